; The oscillator of timer 2 has the pin.
#include "common.inc"
        vectors
start:  ldi r16, 1 << AS2
        sts ASSR, r16
        nop
        nop
        nop
        sbis PINB, PINB7
        rjmp low
        .global high
high:
        nop
end:    rjmp end
        .global low
low:
        nop
        rjmp end
