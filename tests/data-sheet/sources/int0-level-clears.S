; Changing to a level interrupt clears the flag.
#include "common.inc"
        vectors
start:  clr r1
        ldi r16, 1 << ISC01
        sts EICRA, r16
1:      sbis EIFR, INTF0
        rjmp 1b
        sts EICRA, r1
        nop
        nop
        nop
        nop
        sbic EIFR, INTF0
        rjmp still
        .global cleared
cleared:
        nop
end:    rjmp end
        .global still
still:
        nop
        rjmp end
