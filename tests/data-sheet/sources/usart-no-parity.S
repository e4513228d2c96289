; Without parity there is no parity error.
#include "common.inc"
        vectors
start:  ldi r16, (1 << UCSZ01) | (1 << UCSZ00)
        sts UCSR0C, r16
        ldi r16, (1 << RXEN0)
        sts UCSR0B, r16
1:      lds r17, UCSR0A
        sbrs r17, RXC0
        rjmp 1b
        sbrc r17, UPE0
        rjmp parity
        sbrs r17, FE0
        rjmp end
        .global frame
frame:
        nop
end:    rjmp end
        .global parity
parity:
        nop
        rjmp end
