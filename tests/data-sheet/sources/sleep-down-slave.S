; A slave of the serial peripheral interface does not wake the processor from power-down.
#include "common.inc"
        vectors
        .global vector_17
vector_17:
        reti
start:  clr r1
        clr r20
        ldi r16, (1 << SPIE) | (1 << SPE)
        out SPCR, r16
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
