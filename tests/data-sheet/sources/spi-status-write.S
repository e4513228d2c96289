; SPIF and WCOL cannot be written.
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
        ldi r16, (1 << SPIF) | (1 << WCOL)
        out SPSR, r16
        in r18, SPSR
        sbrs r18, SPIF
        rjmp lost
        sbrc r18, WCOL
        rjmp collision
        .global kept
kept:
        nop
end:    rjmp end
        .global lost
lost:
        nop
        rjmp end
        .global collision
collision:
        nop
        rjmp end
