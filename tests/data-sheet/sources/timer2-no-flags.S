; A timer that was never started sets no flags, although its compare registers equal it.
#include "common.inc"
        vectors
start:  ldi r19, 100
1:      in r18, TIFR2
        cpi r18, 0
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
