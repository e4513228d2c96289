; EEMPE is written together with EEPE, which then does nothing; it is not said whether the next EEPE does.
#include "common.inc"
        vectors
start:  clr r1
        ldi r16, (1 << EEMPE) | (1 << EEPE)
        ldi r17, 1 << EEPE
2:      sbic EECR, EEPE
        rjmp 2b
        ; Some random time later, so that what reset left is over.
        out EEARH, r1
        out EEARL, r1
        out EECR, r16
        out EECR, r17
        sbis EECR, EEPE
        rjmp ignored
        .global started
started:
        nop
end:    rjmp end
        .global ignored
ignored:
        nop
        rjmp end
