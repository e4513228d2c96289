; Where the part has no pin, the bits of its ports read 0, whatever is written.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
start:  ldi r16, 0xff
        out DDRC, r16
        out PORTC, r16
        out DDRE, r16
        out PORTE, r16
        out DDRF, r16
        out PORTF, r16
        nop
        nop
        in r18, PINC
        in r19, PORTC
        or r18, r19
        in r19, DDRC
        or r18, r19
        andi r18, 0x3f
        brne set
        in r18, PINE
        in r19, PORTE
        or r18, r19
        in r19, DDRE
        or r18, r19
        andi r18, 0xbb
        brne set
        in r18, PINF
        in r19, PORTF
        or r18, r19
        in r19, DDRF
        or r18, r19
        andi r18, 0x0c
        brne set
        in r18, PORTC
        cpi r18, 0xc0
        brne set
        in r18, PORTE
        cpi r18, 0x44
        brne set
        in r18, PORTF
        cpi r18, 0xf3
        brne set
        .global clear
clear:
        nop
end:    rjmp end
        .global set
set:
        nop
        rjmp end
