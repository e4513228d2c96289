; TXC0 stays 1 when the transmit buffer is filled again.
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
        sts UDR0, r16
        lds r17, UCSR0A
        sbrs r17, TXC0
        rjmp end
        sbrc r17, UDRE0
        rjmp end
        .global full
full:
        nop
end:    rjmp end
