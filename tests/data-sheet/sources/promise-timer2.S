; Timer 2 on the clock of the processor comes to OCR2A, to OCR2B, and over its maximum.
#include "common.inc"
        vectors
start:  ldi r16, (1 << CS20)
        sts TCCR2B, r16
1:      sbis TIFR2, TOV2
        rjmp 1b
2:      sbis TIFR2, OCF2A
        rjmp 2b
3:      sbis TIFR2, OCF2B
        rjmp 3b
        .global done
done:   nop
end:    rjmp end
