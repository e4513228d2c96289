; The comparator does not wake the processor from the noise reduction mode.
#include "common.inc"
        vectors
        .global vector_23
vector_23:
        reti
start:  clr r1
        clr r20
        ldi r16, 1 << ACIE
        out ACSR, r16
        ldi r16, (1 << SM0) | (1 << SE)
        out SMCR, r16
        sei
        nop
        sleep
        nop
        .global woken
woken:
        nop
end:    rjmp end
