; Ones written to PINC toggle all seven bits of PORTC.
#include "common.inc"
        vectors
start:  ldi r16, 0x55
        out PORTC, r16
        ldi r17, 0x7f
        out PINC, r17
        in r18, PORTC
        cpi r18, 0x2a
        brne other
        .global toggled
toggled:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
