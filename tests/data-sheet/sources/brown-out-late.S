; BODS is not set when the second write of its sequence comes too late.
#include "common.inc"
        vectors
start:  ldi r16, (1 << BODS) | (1 << BODSE)
        ldi r17, 1 << BODS
        out MCUCR, r16
        nop
        nop
        nop
        nop
        nop
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
