; An input whose digital buffer is off reads 0.
#include "common.inc"
        vectors
start:  ldi r16, 1 << ADC2D
        sts DIDR0, r16
        nop
        nop
        nop
        nop
        ldi r19, 100
1:      sbic PINC, PINC2
        rjmp high
        dec r19
        brne 1b
        .global low
low:
        nop
end:    rjmp end
        .global high
high:
        nop
        rjmp end
