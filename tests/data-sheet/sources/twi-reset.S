; After reset the status is that nothing is known, and the data register is all ones.
#include "common.inc"
        vectors
start:  lds r18, TWSR
        cpi r18, 0xf8
        brne other
        lds r18, TWDR
        cpi r18, 0xff
        brne other
        .global initial
initial:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
