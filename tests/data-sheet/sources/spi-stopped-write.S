; A transfer may be done before the SPI loses its clock, and a write that comes then may switch it off.
#include "common.inc"
        vectors
start:  ldi r16, (1 << SPE) | (1 << MSTR)
        ldi r17, (1 << PRSPI)
        clr r18
        sbi DDRB, 2
        out SPCR, r16
        out SPDR, r18
        nop
        nop
        sts PRR, r17
        out SPCR, r18
        sts PRR, r18
        in r19, SPCR
        sbrc r19, SPE
        rjmp end
        in r19, SPSR
        sbrs r19, SPIF
        rjmp end
        .global both
both:
        nop
end:    rjmp end
