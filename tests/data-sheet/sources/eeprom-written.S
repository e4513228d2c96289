; What is written to the EEPROM can be read from it.
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
        out EEDR, r1
        sbi EECR, EERE
        in r18, EEDR
        cpi r18, 0x5a
        brne other
        .global same
same:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
