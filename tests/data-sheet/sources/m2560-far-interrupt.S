; An interrupt of code above 128 KiB returns there, and takes three bytes of the stack.
; device: atmega2560
; far: 0x30000
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
        reti
start:  ldi r16, 1 << ISC01
        sts EICRA, r16
        ldi r16, 1 << INT0
        out EIMSK, r16
        sei
        jmp far
        .global other
other:
        nop
        rjmp other
        .section .far, "ax", @progbits
far:    nop
        .global there
there:
        nop
        rjmp far
