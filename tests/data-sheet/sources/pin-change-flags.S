; The other two groups of pins have flags of their own, which stand until a one is written.
#include "common.inc"
        vectors
start:  clr r1
        ldi r16, 1 << PCINT9
        sts PCMSK1, r16
1:      sbis PCIFR, PCIF1
        rjmp 1b
        sts PCMSK1, r1
        ldi r16, 1 << PCINT18
        sts PCMSK2, r16
2:      sbis PCIFR, PCIF2
        rjmp 2b
        sts PCMSK2, r1
        out PCIFR, r1
        sbis PCIFR, PCIF1
        rjmp lost
        sbis PCIFR, PCIF2
        rjmp lost
        .global kept
kept:
        nop
end:    rjmp end
        .global lost
lost:
        nop
        rjmp end
