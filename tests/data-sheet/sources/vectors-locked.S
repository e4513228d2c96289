; IVSEL does not change without IVCE.
#include "common.inc"
        vectors
start:  ldi r17, 1 << IVSEL
        out MCUCR, r17
        in r18, MCUCR
        sbrc r18, IVSEL
        rjmp moved
        .global kept
kept:
        nop
end:    rjmp end
        .global moved
moved:
        nop
        rjmp end
