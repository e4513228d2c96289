; The pin of a running receiver is an input, whatever the direction register says.
#include "common.inc"
        vectors
start:  ldi r16, 1 << DDD0
        out DDRD, r16
        ldi r16, (1 << RXEN0)
        sts UCSR0B, r16
        nop
        nop
        nop
        in r18, PIND
        sbrc r18, PIND0
        rjmp high
        .global low
low:
        nop
end:    rjmp end
        .global high
high:
        nop
        rjmp end
