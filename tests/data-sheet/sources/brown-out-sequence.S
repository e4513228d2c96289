; BODS is 0 some cycles after its sequence.
#include "common.inc"
        vectors
start:  ldi r16, (1 << BODS) | (1 << BODSE)
        ldi r17, 1 << BODS
        out MCUCR, r16
        out MCUCR, r17
        nop
        nop
        nop
        nop
        nop
        nop
        in r18, MCUCR
        sbrc r18, BODS
        rjmp still
        sbrc r18, BODSE
        rjmp still
        .global cleared
cleared:
        nop
end:    rjmp end
        .global still
still:
        nop
        rjmp end
