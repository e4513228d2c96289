; Ones written to PINF toggle bits of PORTF.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
start:  ldi r16, 0x02
        out PORTF, r16
        ldi r16, 0x03
        out PINF, r16
        in r17, PORTF
        cpi r17, 0x01
        brne other
        .global toggled
toggled:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
