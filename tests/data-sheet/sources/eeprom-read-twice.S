; Two reads of a cell agree, whatever it holds.
#include "common.inc"
        vectors
start:  clr r1
1:      sbic EECR, EEPE
        rjmp 1b
        out EEARH, r1
        ldi r16, 5
        out EEARL, r16
        sbi EECR, EERE
        in r18, EEDR
        out EEDR, r1
        sbi EECR, EERE
        in r19, EEDR
        cp r18, r19
        brne differ
        .global same
same:
        nop
end:    rjmp end
        .global differ
differ:
        nop
        rjmp end
