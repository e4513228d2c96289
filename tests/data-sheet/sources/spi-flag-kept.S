; SPIF stays set until the data register is accessed.
#include "common.inc"
        vectors
start:  ldi r16, (1 << DDB2) | (1 << DDB3) | (1 << DDB5)
        out DDRB, r16
        ldi r16, (1 << SPE) | (1 << MSTR)
        out SPCR, r16
        ldi r17, 0x11
        out SPDR, r17
1:      in r18, SPSR
        sbrs r18, SPIF
        rjmp 1b
        in r18, SPSR
        in r19, SPSR
        sbrs r18, SPIF
        rjmp lost
        sbrs r19, SPIF
        rjmp lost
        .global kept
kept:
        nop
end:    rjmp end
        .global lost
lost:
        nop
        rjmp end
