; The general purpose registers keep what is written to them.
#include "common.inc"
        vectors
start:  ldi r16, 0x12
        out GPIOR0, r16
        ldi r17, 0x34
        out GPIOR1, r17
        ldi r18, 0x56
        out GPIOR2, r18
        ldi r24, 50
1:      dec r24
        brne 1b
        in r25, GPIOR0
        cp r25, r16
        brne other
        in r25, GPIOR1
        cp r25, r17
        brne other
        in r25, GPIOR2
        cp r25, r18
        brne other
        .global same
same:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
