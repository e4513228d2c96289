; A byte that is written while another one is sent is a write collision.
#include "common.inc"
        vectors
start:  ldi r16, (1 << DDB2) | (1 << DDB3) | (1 << DDB5)
        out DDRB, r16
        ldi r16, (1 << SPE) | (1 << MSTR) | (1 << SPR1) | (1 << SPR0)
        out SPCR, r16
        out SPDR, r16
        out SPDR, r16
        in r18, SPSR
        sbrs r18, WCOL
        rjmp end
        .global collision
collision:
        nop
end:    rjmp end
