; The second write goes to another cell: the address can be written again once the first write has ended.
#include "common.inc"
        vectors
start:  ldi r16, 0
        out EEARH, r16
        out EEARL, r16
        ldi r16, 0x11
        out EEDR, r16
        sbi EECR, EEMPE
        sbi EECR, EEPE
        wait_long
        ldi r16, 5
        out EEARL, r16
        ldi r16, 0x22
        out EEDR, r16
        sbi EECR, EEMPE
        sbi EECR, EEPE
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
