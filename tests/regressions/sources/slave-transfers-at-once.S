; Two transfers to a slave within some cycles.
#include "common.inc"
        vectors
start:  ldi r16, (1 << SPE)
        out SPCR, r16
        ldi r20, 100
settle: dec r20
        brne settle
first:  in r16, SPSR
        sbrs r16, SPIF
        rjmp first
        in r17, SPDR
        in r16, SPSR
        sbrs r16, SPIF
        rjmp first
        .global reached
reached:
        nop
end:    rjmp end
