; The bit that resets a prescaler may still be 1 in the clock cycle after it was written.
#include "common.inc"
        vectors
start:  ldi r16, 1 << PSRSYNC
        out GTCCR, r16
        in r18, GTCCR
        sbrs r18, PSRSYNC
        rjmp zero
        .global one
one:
        nop
end:    rjmp end
        .global zero
zero:
        nop
        rjmp end
