; Three characters take longer than it takes to look twice.
#include "common.inc"
        vectors
start:  ldi r16, (1 << UCSZ01) | (1 << UCSZ00)
        sts UCSR0C, r16
        ldi r16, (1 << RXEN0)
        sts UCSR0B, r16
1:      lds r17, UCSR0A
        sbrs r17, RXC0
        rjmp 1b
        sbrs r17, DOR0
        rjmp end
        .global early
early:
        nop
end:    rjmp end
