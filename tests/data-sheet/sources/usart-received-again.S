; The interrupt of a received character comes again after each instruction until the character is read.
#include "common.inc"
        vectors
        .global vector_18
vector_18:
        in r15, SREG
        inc r20
        out SREG, r15
        reti
start:  clr r20
        ldi r16, (1 << RXEN0) | (1 << RXCIE0)
        sts UCSR0B, r16
        sei
1:      mov r21, r20
        cpi r21, 0
        breq 1b
        nop
        mov r22, r20
        cpi r22, 4
        brlo few
        .global many
many:
        nop
end:    rjmp end
        .global few
few:
        nop
        rjmp end
