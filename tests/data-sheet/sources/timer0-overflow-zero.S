; The overflow flag is not cleared by writing a zero to it.
#include "common.inc"
        vectors
start:  clr r1
        ldi r16, (1 << CS00)
        out TCCR0B, r16
1:      sbis TIFR0, TOV0
        rjmp 1b
        out TIFR0, r1
        sbis TIFR0, TOV0
        rjmp lost
        .global kept
kept:
        nop
end:    rjmp end
        .global lost
lost:
        nop
        rjmp end
