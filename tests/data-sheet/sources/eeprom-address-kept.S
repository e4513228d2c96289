; The address register keeps what is written to it while nothing is written to the EEPROM.
#include "common.inc"
        vectors
start:  clr r1
1:      sbic EECR, EEPE
        rjmp 1b
        ldi r16, 0x5a
        ldi r17, 2
        out EEARH, r17
        out EEARL, r16
        ldi r20, 100
2:      dec r20
        brne 2b
        in r18, EEARL
        in r19, EEARH
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
