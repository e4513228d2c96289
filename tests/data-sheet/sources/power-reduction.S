; The power reduction register reads back as written.
#include "common.inc"
        vectors
start:  ldi r16, (1 << PRTWI) | (1 << PRTIM2) | (1 << PRSPI) | (1 << PRADC)
        sts PRR, r16
        ldi r24, 50
1:      dec r24
        brne 1b
        lds r25, PRR
        cp r25, r16
        brne other
        .global same
same:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
