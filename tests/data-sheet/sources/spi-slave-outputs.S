; The pins of a slave are inputs whatever the direction register says.
#include "common.inc"
        vectors
start:  ldi r16, 0xff
        out DDRB, r16
        ldi r16, 1 << SPE
        out SPCR, r16
1:      in r18, SPSR
        sbrs r18, SPIF
        rjmp 1b
        in r19, SPDR
        cpi r19, 0xa7
        brne end
        .global chosen
chosen:
        nop
end:    rjmp end
