; The pin of a running transmitter is an output, whatever the direction register says.
; device: atmega2560
#include "common.inc"
        vectors
start:  ldi r16, 1 << TXEN1
        sts UCSR1B, r16
        nop
        nop
        nop
        in r18, PIND
        sbrc r18, PIND3
        rjmp end
        .global low
low:
        nop
end:    rjmp end
