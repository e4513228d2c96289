; After reset UDRE0 is 1 and the other flags are 0.
#include "common.inc"
        vectors
start:  lds r17, UCSR0A
        cpi r17, 1 << UDRE0
        brne other
        .global initial
initial:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
