; TXC0 is not cleared by writing a zero to it.
#include "common.inc"
        vectors
start:  ldi r16, (1 << TXEN0)
        sts UCSR0B, r16
        ldi r16, 0x5a
        sts UDR0, r16
1:      lds r17, UCSR0A
        sbrs r17, TXC0
        rjmp 1b
        ldi r16, 1 << U2X0
        sts UCSR0A, r16
        lds r17, UCSR0A
        sbrs r17, TXC0
        rjmp lost
        .global kept
kept:
        nop
end:    rjmp end
        .global lost
lost:
        nop
        rjmp end
