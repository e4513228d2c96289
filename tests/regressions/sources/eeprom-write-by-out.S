; The write is started by OUT, after the first one has ended and nobody has looked.
#include "common.inc"
        vectors
start:  ldi r16, 0
        out EEARH, r16
        out EEARL, r16
        ldi r20, 1 << EEMPE
        ldi r21, (1 << EEMPE) | (1 << EEPE)
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
        out EECR, r20
        out EECR, r21
        ret
