; A master receives what its slave sends even where the direction register makes MISO an output.
#include "common.inc"
        vectors
start:  ldi r16, 0xff
        out DDRB, r16
        ldi r16, (1 << SPE) | (1 << MSTR)
        out SPCR, r16
        ldi r17, 0x11
        out SPDR, r17
1:      in r18, SPSR
        sbrs r18, SPIF
        rjmp 1b
        in r19, SPDR
        cpi r19, 0x5a
        brne end
        .global chosen
chosen:
        nop
end:    rjmp end
