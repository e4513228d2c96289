; The capture flag is not cleared by writing a zero to it, and neither by clearing another flag.
#include "common.inc"
        vectors
start:  clr r1
1:      sbis TIFR1, ICF1
        rjmp 1b
        out TIFR1, r1
        sbi TIFR1, TOV1
        sbis TIFR1, ICF1
        rjmp lost
        .global kept
kept:
        nop
end:    rjmp end
        .global lost
lost:
        nop
        rjmp end
