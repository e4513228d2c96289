; A transfer may be over, or not, after the interface was off for a moment.
#include "common.inc"
        vectors
start:  ldi r16, (1 << DDB2) | (1 << DDB3) | (1 << DDB5)
        out DDRB, r16
        ldi r16, (1 << SPE) | (1 << MSTR) | (1 << SPR1) | (1 << SPR0)
        ldi r17, (1 << MSTR) | (1 << SPR1) | (1 << SPR0)
        out SPCR, r16
        out SPDR, r16
        out SPCR, r17
        out SPCR, r16
        out SPDR, r16
        in r18, SPSR
        andi r18, (1 << SPIF) | (1 << WCOL)
        breq begun
        sbrs r18, WCOL
        rjmp end
        .global goes_on
goes_on:
        nop
end:    rjmp end
        .global begun
begun:
        nop
        rjmp end
