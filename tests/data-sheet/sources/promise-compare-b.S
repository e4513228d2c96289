; The counter comes to OCR0B where it counts to its maximum, and perhaps not where OCR0A is the top.
#include "common.inc"
        vectors
start:  ldi r16, 99
        out OCR0B, r16
        ldi r16, (1 << CS01)
        out TCCR0B, r16
1:      sbis TIFR0, OCF0B
        rjmp 1b
        .global done
done:   ldi r16, (1 << OCF0B)
        out TIFR0, r16
        ldi r16, (1 << WGM01)
        out TCCR0A, r16
2:      sbis TIFR0, OCF0B
        rjmp 2b
        .global again
again:  nop
end:    rjmp end
