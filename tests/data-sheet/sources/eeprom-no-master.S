; Without EEMPE nothing is written.
#include "common.inc"
        vectors
start:  clr r1
1:      sbic EECR, EEPE
        rjmp 1b
        out EEARH, r1
        ldi r16, 5
        out EEARL, r16
        sbi EECR, EEPE
        sbic EECR, EEPE
        rjmp started
        .global nothing
nothing:
        nop
end:    rjmp end
        .global started
started:
        nop
        rjmp end
