; A timer that was never started sets none of its own flags.
#include "common.inc"
        vectors
start:  ldi r19, 100
1:      in r18, TIFR1
        andi r18, (1 << OCF1B) | (1 << OCF1A) | (1 << TOV1)
        brne flag
        dec r19
        brne 1b
        .global none
none:
        nop
end:    rjmp end
        .global flag
flag:
        nop
        rjmp end
