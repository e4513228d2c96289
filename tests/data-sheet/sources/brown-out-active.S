; BODS is active for three clock cycles after it was set.
#include "common.inc"
        vectors
start:  ldi r16, (1 << BODS) | (1 << BODSE)
        ldi r17, 1 << BODS
        out MCUCR, r16
        out MCUCR, r17
        in r18, MCUCR
        sbrs r18, BODS
        rjmp clear
        .global set
set:
        nop
end:    rjmp end
        .global clear
clear:
        nop
        rjmp end
