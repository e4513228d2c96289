; A level interrupt for a moment clears the flag for good.
#include "common.inc"
        vectors
start:  clr r1
        ldi r16, 1 << ISC01
        sts EICRA, r16
1:      sbis EIFR, INTF0
        rjmp 1b
        sts EICRA, r1
        sts EICRA, r16
        sbis EIFR, INTF0
        rjmp cleared
end:    rjmp end
        .global cleared
cleared:
        nop
        rjmp end
