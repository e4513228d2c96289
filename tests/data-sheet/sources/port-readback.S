; The port and its direction read back as written.
#include "common.inc"
        vectors
start:  ldi r16, 0x5a
        ldi r17, 0x3c
        out DDRB, r16
        out PORTB, r17
        in r18, DDRB
        in r19, PORTB
        cp r18, r16
        brne other
        cp r19, r17
        brne other
        .global same
same:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
