; The second write has IVCE still 1.
#include "common.inc"
        vectors
start:  ldi r16, 1 << IVCE
        ldi r17, (1 << IVSEL) | (1 << IVCE)
        out MCUCR, r16
        out MCUCR, r17
        in r18, MCUCR
        sbrs r18, IVSEL
        rjmp kept
        .global moved
moved:
        nop
end:    rjmp end
        .global kept
kept:
        nop
        rjmp end
