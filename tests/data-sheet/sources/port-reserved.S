; The bit of port C that has no pin reads 0.
#include "common.inc"
        vectors
start:  in r18, PINC
        in r19, DDRC
        in r20, PORTC
        or r18, r19
        or r18, r20
        sbrc r18, 7
        rjmp one
        .global zero
zero:
        nop
end:    rjmp end
        .global one
one:
        nop
        rjmp end
