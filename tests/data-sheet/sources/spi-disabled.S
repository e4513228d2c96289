; While the interface is off no flag is set and the data register does not change.
#include "common.inc"
        vectors
start:  in r18, SPSR
        in r19, SPDR
        in r20, SPDR
        in r21, SPSR
        or r18, r21
        andi r18, (1 << SPIF) | (1 << WCOL)
        brne flag
        cp r19, r20
        brne differ
        .global same
same:
        nop
end:    rjmp end
        .global flag
flag:
        nop
        rjmp end
        .global differ
differ:
        nop
        rjmp end
