; The pin of a running receiver is an input, whatever the direction register says.
; device: atmega2560
#include "common.inc"
        vectors
start:  ldi r16, 1 << DDH0
        sts DDRH, r16
        ldi r16, 1 << RXEN2
        sts UCSR2B, r16
        nop
        nop
        nop
        lds r18, PINH
        sbrc r18, PINH0
        rjmp high
        .global low
low:
        nop
end:    rjmp end
        .global high
high:
        nop
        rjmp end
