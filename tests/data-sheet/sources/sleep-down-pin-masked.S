; Without an enabled pin the pin change interrupt does not wake the processor.
#include "common.inc"
        vectors
        .global vector_3
vector_3:
        reti
start:  clr r1
        clr r20
        ldi r16, 1 << PCIE0
        sts PCICR, r16
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
