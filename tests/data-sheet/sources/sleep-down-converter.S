; The converter does not wake the processor from power-down.
#include "common.inc"
        vectors
        .global vector_21
vector_21:
        reti
start:  clr r1
        clr r20
        ldi r16, (1 << ADEN) | (1 << ADSC) | (1 << ADIE) | (1 << ADPS2) | (1 << ADPS1) | (1 << ADPS0)
        sts ADCSRA, r16
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
