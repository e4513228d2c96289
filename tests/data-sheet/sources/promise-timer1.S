; A 16-bit timer that runs comes to OCR1B, to OCR1A, and over its maximum.
#include "common.inc"
        vectors
start:  ldi r16, (1 << CS10)
        sts TCCR1B, r16
1:      sbis TIFR1, TOV1
        rjmp 1b
2:      sbis TIFR1, OCF1A
        rjmp 2b
3:      sbis TIFR1, OCF1B
        rjmp 3b
        .global done
done:   nop
end:    rjmp end
