; CLKPCE is 0 after four cycles.
#include "common.inc"
        vectors
start:  lds r17, CLKPR
        ldi r16, 1 << CLKPCE
        ldi r20, 5
        sts CLKPR, r16
        nop
        nop
        nop
        nop
        lds r18, CLKPR
        sbrc r18, CLKPCE
        rjmp open
        sts CLKPR, r20
        lds r18, CLKPR
        cp r17, r18
        brne changed
        .global kept
kept:
        nop
end:    rjmp end
        .global open
open:
        nop
        rjmp end
        .global changed
changed:
        nop
        rjmp end
