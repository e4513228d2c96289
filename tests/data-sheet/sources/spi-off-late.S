; A transfer that is complete before the interface is switched off has set its flag.
#include "common.inc"
        vectors
start:  clr r1
        ldi r16, (1 << DDB2) | (1 << DDB3) | (1 << DDB5)
        out DDRB, r16
        ldi r16, (1 << SPE) | (1 << MSTR)
        out SPCR, r16
        out SPDR, r16
        ldi r19, 30
1:      dec r19
        brne 1b
        out SPCR, r1
        in r18, SPSR
        sbrs r18, SPIF
        rjmp end
        .global complete
complete:
        nop
end:    rjmp end
