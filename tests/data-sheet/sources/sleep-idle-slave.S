; A byte that a slave receives wakes the processor from idle sleep.
#include "common.inc"
        vectors
        .global vector_17
vector_17:
        reti
start:  clr r1
        clr r20
        ldi r16, (1 << SPIE) | (1 << SPE)
        out SPCR, r16
        ldi r16, 0 | (1 << SE)
        out SMCR, r16
        sei
        nop
        sleep
        nop
        .global woken
woken:
        nop
end:    rjmp end
