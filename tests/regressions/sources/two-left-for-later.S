; Two interrupts come before different instructions that cannot tell, and both have been served where interrupts are off again.
#include "common.inc"
        vectors
start:  ldi r16, 5
        sts EICRA, r16
        ldi r16, 3
        out EIMSK, r16
loop:   ldi r16, 0
        sts first, r16
        sts second, r16
        sei
        .rept 60
        nop
        .endr
        cli
        lds r17, first
        lds r18, second
        and r17, r18
        brne reached
        rjmp loop
        .global reached
reached:
        rjmp loop
        .global vector_1
vector_1:
        push r16
        ldi r16, 1
        sts first, r16
        pop r16
        reti
        .global vector_2
vector_2:
        push r16
        ldi r16, 1
        sts second, r16
        pop r16
        reti
        .comm first, 1
        .comm second, 1
