; The pin of a running receiver is an input, whatever the direction register says.
; device: atmega2560
#include "common.inc"
        vectors
start:  ldi r16, 1 << DDD2
        out DDRD, r16
        ldi r16, 1 << RXEN1
        sts UCSR1B, r16
        nop
        nop
        nop
        in r18, PIND
        sbrc r18, PIND2
        rjmp high
        .global low
low:
        nop
end:    rjmp end
        .global high
high:
        nop
        rjmp end
