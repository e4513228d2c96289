; The sheet does not say whether a timer that no prescaler clocks stands still with the others.
#include "common.inc"
        vectors
start:  ldi r16, (1 << TSM) | (1 << PSRSYNC)
        out GTCCR, r16
        ldi r16, 1 << CS00
        out TCCR0B, r16
        ldi r19, 40
1:      dec r19
        brne 1b
        in r18, TCNT0
        cpi r18, 0
        breq halted
        .global moved
moved:
        nop
end:    rjmp end
        .global halted
halted:
        nop
        rjmp end
