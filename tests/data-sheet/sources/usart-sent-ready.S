; When everything is sent the transmit buffer is empty.
#include "common.inc"
        vectors
start:  ldi r16, (1 << TXEN0)
        sts UCSR0B, r16
        ldi r16, 0x5a
        sts UDR0, r16
1:      lds r17, UCSR0A
        sbrs r17, TXC0
        rjmp 1b
        sbrs r17, UDRE0
        rjmp full
        .global ready
ready:
        nop
end:    rjmp end
        .global full
full:
        nop
        rjmp end
