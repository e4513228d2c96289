; CLKPCE that is written together with other bits does not open the window.
#include "common.inc"
        vectors
start:  lds r17, CLKPR
        ldi r16, (1 << CLKPCE) | 1
        sts CLKPR, r16
        ldi r16, 5
        sts CLKPR, r16
        lds r18, CLKPR
        cp r17, r18
        brne changed
        .global kept
kept:
        nop
end:    rjmp end
        .global changed
changed:
        nop
        rjmp end
