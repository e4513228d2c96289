; The pin of a running transmitter is an output, whatever the direction register says.
; device: atmega2560
#include "common.inc"
        vectors
start:  ldi r16, 1 << TXEN3
        sts UCSR3B, r16
        nop
        nop
        nop
        lds r18, PINJ
        sbrc r18, PINJ1
        rjmp end
        .global low
low:
        nop
end:    rjmp end
