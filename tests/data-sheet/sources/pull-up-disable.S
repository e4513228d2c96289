; PUD reads back as written.
#include "common.inc"
        vectors
start:  ldi r17, 1 << PUD
        out MCUCR, r17
        in r18, MCUCR
        cp r18, r17
        brne other
        .global same
same:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
