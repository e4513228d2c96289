; A timer wakes the processor from idle sleep.
#include "common.inc"
        vectors
        .global vector_16
vector_16:
        reti
start:  clr r1
        clr r20
        ldi r16, 1 << TOIE0
        sts TIMSK0, r16
        ldi r16, 1 << CS00
        out TCCR0B, r16
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
