; The watchdog wakes the processor from power-down.
#include "common.inc"
        vectors
        .global vector_6
vector_6:
        reti
start:  clr r1
        clr r20
        out MCUSR, r1
        ldi r16, 1 << WDIE
        sts WDTCSR, r16
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
