; ACI is not cleared by writing a zero to it.
#include "common.inc"
        vectors
start:  clr r1
1:      in r18, ACSR
        sbrs r18, ACI
        rjmp 1b
        out ACSR, r1
        in r18, ACSR
        sbrs r18, ACI
        rjmp lost
        .global kept
kept:
        nop
end:    rjmp end
        .global lost
lost:
        nop
        rjmp end
