; BODS is not set without BODSE.
#include "common.inc"
        vectors
start:  ldi r17, 1 << BODS
        out MCUCR, r17
        in r18, MCUCR
        sbrc r18, BODS
        rjmp set
        .global clear
clear:
        nop
end:    rjmp end
        .global set
set:
        nop
        rjmp end
