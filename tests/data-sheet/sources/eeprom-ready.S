; The interrupt comes only while nothing is written.
#include "common.inc"
        vectors
        .global vector_22
vector_22:
        sbic EECR, EEPE
        rjmp busy
        cpi r20, 1
        breq again
        ldi r20, 1
        .global entered
entered:
        nop
        reti
start:  clr r1
        clr r20
1:      sbic EECR, EEPE
        rjmp 1b
        out EEARH, r1
        ldi r16, 5
        out EEARL, r16
        ldi r16, 0x5a
        out EEDR, r16
        ldi r16, 0
        out EECR, r16
        sbi EECR, EEMPE
        sbi EECR, EEPE
        sbi EECR, EERIE
        sei
end:    rjmp end
        .global busy
busy:
        nop
        rjmp end
        .global again
again:
        nop
        rjmp end
