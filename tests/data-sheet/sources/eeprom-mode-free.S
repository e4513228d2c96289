; While nothing is written the mode can be changed.
#include "common.inc"
        vectors
start:  clr r1
1:      sbic EECR, EEPE
        rjmp 1b
        ldi r17, 1 << EEPM1
        out EECR, r17
        in r18, EECR
        cp r18, r17
        brne other
        ldi r17, 0
        out EECR, r17
        in r18, EECR
        cpi r18, 0
        brne other
        .global same
same:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
