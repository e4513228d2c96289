; The overflow flag is not cleared by writing a zero to it.
#include "common.inc"
        vectors
start:  clr r1
        ldi r16, (1 << CS20)
        sts TCCR2B, r16
1:      sbis TIFR2, TOV2
        rjmp 1b
        out TIFR2, r1
        sbis TIFR2, TOV2
        rjmp lost
        .global kept
kept:
        nop
end:    rjmp end
        .global lost
lost:
        nop
        rjmp end
