; In the mode in which OCR0A is the top there is a match again and again, and no overflow.
#include "common.inc"
        vectors
start:  ldi r16, (1 << WGM01)
        out TCCR0A, r16
        ldi r16, 99
        out OCR0A, r16
        ldi r16, (1 << CS01)
        out TCCR0B, r16
1:      sbis TIFR0, OCF0A
        rjmp 1b
        .global done
done:   nop
2:      sbis TIFR0, TOV0
        rjmp 2b
        .global overflown
overflown:
        nop
end:    rjmp end
