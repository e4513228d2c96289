; In master SPI mode two characters that are sent bring two from the slave.
#include "common.inc"
        vectors
start:  ldi r16, 1 << DDD4
        out DDRD, r16
        ldi r16, (1 << UMSEL01) | (1 << UMSEL00)
        sts UCSR0C, r16
        ldi r16, (1 << RXEN0) | (1 << TXEN0)
        sts UCSR0B, r16
        ldi r16, 0x11
        sts UDR0, r16
        sts UDR0, r16
1:      lds r17, UCSR0A
        sbrs r17, RXC0
        rjmp 1b
        lds r18, UDR0
2:      lds r17, UCSR0A
        sbrs r17, RXC0
        rjmp 2b
        .global second
second:
        nop
end:    rjmp end
