; A timer that was never started stays at 0.
#include "common.inc"
        vectors
start:  ldi r19, 100
1:      in r18, TCNT0
        cpi r18, 0
        brne nonzero
        dec r19
        brne 1b
        .global zero
zero:
        nop
end:    rjmp end
        .global nonzero
nonzero:
        nop
        rjmp end
