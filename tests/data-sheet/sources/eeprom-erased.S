; A cell that is only erased reads 0xff.
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
        ldi r16, 0x5a
        out EEDR, r16
        ldi r16, 1 << EEPM0
        out EECR, r16
        sbi EECR, EEMPE
        sbi EECR, EEPE
4:      sbic EECR, EEPE
        rjmp 4b
        out EEDR, r1
        sbi EECR, EERE
        in r18, EEDR
        cpi r18, 0xff
        brne other
        .global erased
erased:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
