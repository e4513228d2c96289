; The error flags of one character say nothing of the next one.
#include "common.inc"
        vectors
start:  ldi r16, (1 << UCSZ01) | (1 << UCSZ00)
        sts UCSR0C, r16
        ldi r16, (1 << RXEN0)
        sts UCSR0B, r16
1:      lds r17, UCSR0A
        sbrs r17, RXC0
        rjmp 1b
        lds r18, UDR0
        ldi r20, 200
2:      dec r20
        brne 2b
3:      lds r18, UCSR0A
        sbrs r18, RXC0
        rjmp 3b
        eor r17, r18
        sbrc r17, FE0
        rjmp differ
        .global same
same:
        nop
end:    rjmp end
        .global differ
differ:
        nop
        rjmp end
