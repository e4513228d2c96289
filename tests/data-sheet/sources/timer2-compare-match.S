; A running timer comes to its compare value, which sets the flag.
#include "common.inc"
        vectors
start:  ldi r16, 100
        sts OCR2A, r16
        ldi r16, (1 << CS20)
        sts TCCR2B, r16
1:      sbis TIFR2, OCF2A
        rjmp 1b
        .global matched
matched:
        nop
end:    rjmp end
