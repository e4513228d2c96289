; A byte that is received as soon as the receiver is switched on.
#include "common.inc"
        vectors
start:  ldi r16, (1 << RXEN0)
        sts UCSR0B, r16
        lds r16, UCSR0A
        sbrs r16, RXC0
        rjmp end
        .global reached
reached:
        nop
end:    rjmp end
