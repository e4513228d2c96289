; Without TSM hardware clears the bit that resets a prescaler at once.
#include "common.inc"
        vectors
start:  ldi r16, 1 << PSRSYNC
        out GTCCR, r16
        nop
        nop
        in r18, GTCCR
        cpi r18, 0
        brne one
        .global zero
zero:
        nop
end:    rjmp end
        .global one
one:
        nop
        rjmp end
