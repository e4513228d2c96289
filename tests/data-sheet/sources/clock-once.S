; The write that changes the clock prescaler closes the window.
#include "common.inc"
        vectors
start:  ldi r16, 1 << CLKPCE
        ldi r17, 5
        ldi r18, 6
        ldi r26, lo8(CLKPR)
        ldi r27, hi8(CLKPR)
        st X, r16
        st X, r17
        st X, r18
        ld r19, X
        cpi r19, 5
        brne other
        .global first
first:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
