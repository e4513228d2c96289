; With parity there can be a parity error.
#include "common.inc"
        vectors
start:  ldi r16, (1 << UPM01) | (1 << UCSZ01) | (1 << UCSZ00)
        sts UCSR0C, r16
        ldi r16, (1 << RXEN0)
        sts UCSR0B, r16
1:      lds r17, UCSR0A
        sbrs r17, RXC0
        rjmp 1b
        sbrs r17, UPE0
        rjmp right
        .global parity
parity:
        nop
        rjmp end
        .global right
right:
        nop
end:    rjmp end
