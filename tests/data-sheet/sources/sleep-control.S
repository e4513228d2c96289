; The sleep mode control register reads back as written.
#include "common.inc"
        vectors
start:  ldi r16, (1 << SM1) | (1 << SE)
        out SMCR, r16
        ldi r24, 50
1:      dec r24
        brne 1b
        in r25, SMCR
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
