; The upper bits of the address cannot be changed while a write is under way.
#include "common.inc"
        vectors
start:  clr r1
1:      sbic EECR, EEPE
        rjmp 1b
        out EEARH, r1
        ldi r16, 5
        out EEARL, r16
        ldi r16, 0x5a
        out EEDR, r16
        out EECR, r1
        sbi EECR, EEMPE
        sbi EECR, EEPE
        ldi r17, 2
        out EEARH, r17
        in r18, EEARH
        sbis EECR, EEPE
        rjmp end
        cpi r18, 0
        brne changed
        .global kept
kept:
        nop
end:    rjmp end
        .global changed
changed:
        nop
        rjmp end
