; Switching the receiver off empties its buffer.
#include "common.inc"
        vectors
start:  ldi r16, (1 << UCSZ01) | (1 << UCSZ00)
        sts UCSR0C, r16
        ldi r16, (1 << RXEN0)
        sts UCSR0B, r16
1:      lds r17, UCSR0A
        sbrs r17, RXC0
        rjmp 1b
        clr r16
        sts UCSR0B, r16
        lds r17, UCSR0A
        sbrc r17, RXC0
        rjmp still
        .global flushed
flushed:
        nop
end:    rjmp end
        .global still
still:
        nop
        rjmp end
