; A device that does not acknowledge its address is not woken from power-down by the two-wire bus.
#include "common.inc"
        vectors
        .global vector_24
vector_24:
        ldi r17, 1 << TWINT
        sts TWCR, r17
        reti
start:  clr r1
        clr r20
        ldi r16, 0x42
        sts TWAR, r16
        ldi r16, (1 << TWEN) | (1 << TWIE)
        sts TWCR, r16
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
