; A timer that is stopped again keeps its value.
#include "common.inc"
        vectors
start:  clr r1
        ldi r16, (1 << CS20)
        sts TCCR2B, r16
        nop
        nop
        nop
        sts TCCR2B, r1
        lds r18, TCNT2
        ldi r20, 50
1:      dec r20
        brne 1b
        lds r19, TCNT2
        cp r18, r19
        brne differ
        .global same
same:
        nop
end:    rjmp end
        .global differ
differ:
        nop
        rjmp end
