; The pin of a running receiver is an input, whatever the direction register says.
; device: atmega2560
#include "common.inc"
        vectors
start:  ldi r16, 1 << DDE0
        out DDRE, r16
        ldi r16, 1 << RXEN0
        sts UCSR0B, r16
        nop
        nop
        nop
        in r18, PINE
        sbrc r18, PINE0
        rjmp high
        .global low
low:
        nop
end:    rjmp end
        .global high
high:
        nop
        rjmp end
