; An edge is kept in the flag although the interrupt is not enabled.
#include "common.inc"
        vectors
start:  clr r1
        ldi r16, 1 << ISC01
        sts EICRA, r16
1:      sbis EIFR, INTF0
        rjmp 1b
        out EIFR, r1
        sbis EIFR, INTF0
        rjmp lost
        .global kept
kept:
        nop
end:    rjmp end
        .global lost
lost:
        nop
        rjmp end
