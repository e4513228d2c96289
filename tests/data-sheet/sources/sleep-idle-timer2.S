; Timer 2 wakes the processor from idle sleep.
#include "common.inc"
        vectors
        .global vector_9
vector_9:
        reti
start:  clr r1
        clr r20
        ldi r16, 1 << TOIE2
        sts TIMSK2, r16
        ldi r16, 1 << CS20
        sts TCCR2B, r16
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
