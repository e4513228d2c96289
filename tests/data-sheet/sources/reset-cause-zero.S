; The reset flags are cleared by writing zeros to them.
#include "common.inc"
        vectors
start:  clr r1
        out MCUSR, r1
        in r18, MCUSR
        cpi r18, 0
        brne still
        .global cleared
cleared:
        nop
end:    rjmp end
        .global still
still:
        nop
        rjmp end
