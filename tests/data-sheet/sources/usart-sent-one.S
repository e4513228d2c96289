; TXC0 is cleared by writing a one to it.
#include "common.inc"
        vectors
start:  ldi r16, (1 << TXEN0)
        sts UCSR0B, r16
        ldi r16, 0x5a
        sts UDR0, r16
1:      lds r17, UCSR0A
        sbrs r17, TXC0
        rjmp 1b
        ldi r16, 1 << TXC0
        sts UCSR0A, r16
        lds r17, UCSR0A
        sbrc r17, TXC0
        rjmp still
        .global cleared
cleared:
        nop
end:    rjmp end
        .global still
still:
        nop
        rjmp end
