; A write changes one cell of the EEPROM only.
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
        ldi r16, 0
        out EECR, r16
        sbi EECR, EEMPE
        sbi EECR, EEPE
3:      sbic EECR, EEPE
        rjmp 3b
        ldi r16, 6
        out EEARL, r16
        ldi r16, 0xa5
        out EEDR, r16
        ldi r16, 0
        out EECR, r16
        sbi EECR, EEMPE
        sbi EECR, EEPE
4:      sbic EECR, EEPE
        rjmp 4b
        ldi r16, 5
        out EEARL, r16
        out EEDR, r1
        sbi EECR, EERE
        in r18, EEDR
        cpi r18, 0x5a
        brne other
        ldi r16, 6
        out EEARL, r16
        out EEDR, r1
        sbi EECR, EERE
        in r18, EEDR
        cpi r18, 0xa5
        brne other
        .global same
same:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
