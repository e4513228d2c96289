; With TSM the bit that resets the prescaler of timer 2 stays 1.
#include "common.inc"
        vectors
start:  ldi r16, (1 << TSM) | (1 << PSRASY)
        out GTCCR, r16
        ldi r19, 100
1:      in r18, GTCCR
        cp r18, r16
        brne changed
        dec r19
        brne 1b
        .global kept
kept:
        nop
end:    rjmp end
        .global changed
changed:
        nop
        rjmp end
