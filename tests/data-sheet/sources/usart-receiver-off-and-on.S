; Switching the receiver off for a moment empties its buffer for good.
#include "common.inc"
        vectors
start:  ldi r16, (1 << UCSZ01) | (1 << UCSZ00)
        sts UCSR0C, r16
        clr r18
        ldi r16, (1 << RXEN0)
        sts UCSR0B, r16
1:      lds r17, UCSR0A
        sbrs r17, RXC0
        rjmp 1b
        sts UCSR0B, r18
        sts UCSR0B, r16
        lds r17, UCSR0A
        sbrs r17, RXC0
        rjmp flushed
end:    rjmp end
        .global flushed
flushed:
        nop
        rjmp end
