; A running timer comes to its compare value, which sets the flag.
#include "common.inc"
        vectors
start:  ldi r16, 100
        out OCR0A, r16
        ldi r16, (1 << CS00)
        out TCCR0B, r16
1:      sbis TIFR0, OCF0A
        rjmp 1b
        .global matched
matched:
        nop
end:    rjmp end
