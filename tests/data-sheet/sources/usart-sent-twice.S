; TXC0 tells of every character after which nothing was left to send, even if another one was written before anybody looked.
#include "common.inc"
        vectors
start:  ldi r16, (1 << TXEN0)
        sts UCSR0B, r16
        ldi r16, 0x5a
        sts UDR0, r16
        ldi r20, 200
1:      dec r20
        brne 1b
        sts UDR0, r16
        lds r17, UCSR0A
        sbrs r17, TXC0
        rjmp end
        ldi r16, 1 << TXC0
        sts UCSR0A, r16
2:      lds r17, UCSR0A
        sbrs r17, TXC0
        rjmp 2b
        .global again
again:
        nop
end:    rjmp end
