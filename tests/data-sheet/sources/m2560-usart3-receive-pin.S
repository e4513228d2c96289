; The pin of a running receiver is an input, whatever the direction register says.
; device: atmega2560
#include "common.inc"
        vectors
start:  ldi r16, 1 << DDJ0
        sts DDRJ, r16
        ldi r16, 1 << RXEN3
        sts UCSR3B, r16
        nop
        nop
        nop
        lds r18, PINJ
        sbrc r18, PINJ0
        rjmp high
        .global low
low:
        nop
end:    rjmp end
        .global high
high:
        nop
        rjmp end
