; Two received bytes, the second one after a time in which a line can bring it.
#include "common.inc"
        vectors
start:  ldi r16, (1 << RXEN0)
        sts UCSR0B, r16
        ldi r20, 100
settle: dec r20
        brne settle
first:  lds r16, UCSR0A
        sbrs r16, RXC0
        rjmp first
        lds r17, UDR0
        ldi r20, 100
1:      dec r20
        brne 1b
        lds r16, UCSR0A
        sbrs r16, RXC0
        rjmp first
        .global reached
reached:
        nop
end:    rjmp end
