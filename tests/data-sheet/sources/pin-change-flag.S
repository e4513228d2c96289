; The change of a pin that is enabled sets the flag of its group.
#include "common.inc"
        vectors
start:  clr r1
        ldi r16, 1 << PCINT0
        sts PCMSK0, r16
1:      sbis PCIFR, PCIF0
        rjmp 1b
        sts PCMSK0, r1
        out PCIFR, r1
        sbis PCIFR, PCIF0
        rjmp lost
        .global kept
kept:
        nop
end:    rjmp end
        .global lost
lost:
        nop
        rjmp end
