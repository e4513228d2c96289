; Without CLKPCE the clock prescaler does not change.
#include "common.inc"
        vectors
start:  lds r17, CLKPR
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
