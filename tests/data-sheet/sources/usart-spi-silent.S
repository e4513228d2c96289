; In master SPI mode nothing is received as long as nothing is sent.
#include "common.inc"
        vectors
start:  ldi r16, 1 << DDD4
        out DDRD, r16
        ldi r16, (1 << UMSEL01) | (1 << UMSEL00)
        sts UCSR0C, r16
        ldi r16, (1 << RXEN0) | (1 << TXEN0)
        sts UCSR0B, r16
        ldi r18, 100
1:      lds r17, UCSR0A
        sbrc r17, RXC0
        rjmp received
        dec r18
        brne 1b
        .global none
none:
        nop
end:    rjmp end
        .global received
received:
        nop
        rjmp end
