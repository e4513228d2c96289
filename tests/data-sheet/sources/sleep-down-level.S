; A low level wakes the processor from power-down, and its handler need not run.
#include "common.inc"
        vectors
        .global vector_1
vector_1:
        inc r20
        reti
start:  clr r1
        clr r20
        ldi r16, 1 << INT0
        out EIMSK, r16
        ldi r16, (1 << SM1) | (1 << SE)
        out SMCR, r16
        sei
        nop
        sleep
        nop
        cpi r20, 0
        breq unhandled
        .global woken
woken:
        nop
end:    rjmp end
        .global unhandled
unhandled:
        nop
        rjmp end
