; An edge does not wake the processor from power-down.
#include "common.inc"
        vectors
        .global vector_1
vector_1:
        reti
start:  clr r1
        clr r20
        ldi r16, 1 << ISC01
        sts EICRA, r16
        ldi r16, 1 << INT0
        out EIMSK, r16
        ldi r16, (1 << SM1) | (1 << SE)
        out SMCR, r16
        sei
        nop
        sleep
        nop
        .global woken
woken:
        nop
end:    rjmp end
