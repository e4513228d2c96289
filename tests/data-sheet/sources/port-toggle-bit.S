; SBI on the input register toggles one bit of the port.
#include "common.inc"
        vectors
start:  ldi r16, 0x55
        out PORTD, r16
        sbi PIND, PIND1
        sbi PIND, PIND2
        cbi PIND, PIND4
        in r18, PORTD
        cpi r18, 0x53
        brne other
        .global toggled
toggled:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
