; A write without erasing only clears bits.
#include "common.inc"
        vectors
start:  clr r1
1:      sbic EECR, EEPE
        rjmp 1b
        out EEARH, r1
        ldi r16, 5
        out EEARL, r16
        ldi r16, 0xf0
        out EEDR, r16
        ldi r16, 0
        out EECR, r16
        sbi EECR, EEMPE
        sbi EECR, EEPE
3:      sbic EECR, EEPE
        rjmp 3b
        ldi r16, 0x3c
        out EEDR, r16
        ldi r16, 1 << EEPM1
        out EECR, r16
        sbi EECR, EEMPE
        sbi EECR, EEPE
4:      sbic EECR, EEPE
        rjmp 4b
        out EEDR, r1
        sbi EECR, EERE
        in r18, EEDR
        cpi r18, 0x30
        brne other
        .global conjunction
conjunction:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
