; ELPM reads RAMPZ as it is then. A handler that changes RAMPZ may come just before, and only there it does.
; device: atmega1284p
#include "common.inc"
        vectors
        .global vector_1
vector_1:
        push r16
        in r16, SREG
        push r16
        lds r16, 0x100
        cpi r16, 1
        brne 9f
        out RAMPZ, r16
9:      pop r16
        out SREG, r16
        pop r16
        reti
datum:  .byte 0x5a, 0
start:  ldi r30, lo8(datum)
        ldi r31, hi8(datum)
        ldi r16, (1 << ISC01) | (1 << ISC00)
        sts EICRA, r16
        ldi r16, 1 << INT0
        out EIMSK, r16
        ldi r17, 0
        ldi r19, 1
        sts 0x100, r17
        sei
1:      out RAMPZ, r17
        nop
        sts 0x100, r19
        nop
        elpm r18, Z
        cpi r18, 0x5a
        brne changed
        sts 0x100, r17
        rjmp 1b
        .global changed
changed:
        nop
        rjmp changed
