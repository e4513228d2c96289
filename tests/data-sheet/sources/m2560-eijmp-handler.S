; EIJMP reads EIND as it is then. A handler that changes EIND may come just before, and only there it does.
; device: atmega2560
; far: 0x20000
#define __SFR_OFFSET 0
#include <avr/io.h>
        .macro vector name
        .weak \name
        jmp \name
        .endm
        jmp start
        .irp number, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56
        vector vector_\number
        .endr
        .global vector_1
vector_1:
        push r16
        in r16, SREG
        push r16
        lds r16, 0x200
        cpi r16, 1
        brne 9f
        out EIND, r16
9:      pop r16
        out SREG, r16
        pop r16
        reti
start:  ldi r30, lo8(pm(near))
        ldi r31, hi8(pm(near))
        ldi r16, (1 << ISC01) | (1 << ISC00)
        sts EICRA, r16
        ldi r16, 1 << INT0
        out EIMSK, r16
        ldi r17, 0
        ldi r19, 1
        sts 0x200, r17
        sei
1:      out EIND, r17
        nop
        sts 0x200, r19
        nop
        eijmp
near:   sts 0x200, r17
        rjmp 1b
        .section .far, "ax", @progbits
        .fill 512, 2, 0
        .global changed
changed:
        nop
        rjmp changed
