; The ninth bit that is received is the choice of the environment.
#include "common.inc"
        vectors
start:  ldi r16, (1 << UCSZ01) | (1 << UCSZ00)
        sts UCSR0C, r16
        ldi r16, (1 << RXEN0) | (1 << UCSZ02)
        sts UCSR0B, r16
1:      lds r17, UCSR0A
        sbrs r17, RXC0
        rjmp 1b
        lds r18, UCSR0B
        lds r19, UDR0
        sbrc r18, RXB80
        rjmp one
        .global zero
zero:
        nop
end:    rjmp end
        .global one
one:
        nop
        rjmp end
