; A second write to the EEPROM, after the first one has ended and nobody has looked.
#include "common.inc"
        vectors
start:  ldi r16, 0
        out EEARH, r16
        out EEARL, r16
        ldi r16, 0x11
        rcall write
        wait_long
        ldi r16, 0x22
        rcall write
        wait_long
busy:   sbic EECR, EEPE
        rjmp busy
        ldi r16, 0
        out EEDR, r16
        sbi EECR, EERE
        in r17, EEDR
        cpi r17, 0x22
        brne end
        .global reached
reached:
        nop
end:    rjmp end
write:  out EEDR, r16
        sbi EECR, EEMPE
        sbi EECR, EEPE
        ret
