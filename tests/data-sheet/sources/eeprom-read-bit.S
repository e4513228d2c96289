; The read strobe is not set after the read.
#include "common.inc"
        vectors
start:  clr r1
1:      sbic EECR, EEPE
        rjmp 1b
        out EEARH, r1
        ldi r16, 5
        out EEARL, r16
        sbi EECR, EERE
        sbic EECR, EERE
        rjmp one
        .global zero
zero:
        nop
end:    rjmp end
        .global one
one:
        nop
        rjmp end
