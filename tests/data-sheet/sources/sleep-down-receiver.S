; A receiver does not wake the processor from power-down.
#include "common.inc"
        vectors
        .global vector_18
vector_18:
        lds r17, UDR0
        reti
start:  clr r1
        clr r20
        ldi r16, (1 << RXEN0) | (1 << RXCIE0)
        sts UCSR0B, r16
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
