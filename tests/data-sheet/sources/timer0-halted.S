; A timer that is stopped again keeps its value.
#include "common.inc"
        vectors
start:  clr r1
        ldi r16, (1 << CS00)
        out TCCR0B, r16
        nop
        nop
        nop
        out TCCR0B, r1
        in r18, TCNT0
        ldi r20, 50
1:      dec r20
        brne 1b
        in r19, TCNT0
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
