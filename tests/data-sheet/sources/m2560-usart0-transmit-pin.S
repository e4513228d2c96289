; The pin of a running transmitter is an output, whatever the direction register says.
; device: atmega2560
#include "common.inc"
        vectors
start:  ldi r16, 1 << TXEN0
        sts UCSR0B, r16
        nop
        nop
        nop
        in r18, PINE
        sbrc r18, PINE1
        rjmp end
        .global low
low:
        nop
end:    rjmp end
