; Writing ones to the input register toggles those bits of the port.
#include "common.inc"
        vectors
start:  ldi r16, 0x55
        out PORTB, r16
        ldi r16, 0x0f
        out PINB, r16
        in r18, PORTB
        cpi r18, 0x5a
        brne other
        ldi r16, 0
        out PINB, r16
        in r18, PORTB
        cpi r18, 0x5a
        brne other
        .global toggled
toggled:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
