; What is read while the SPI has no clock may clear the flag of a transfer, or not.
#include "common.inc"
        vectors
start:  ldi r16, (1 << DDB2) | (1 << DDB3) | (1 << DDB5)
        out DDRB, r16
        ldi r16, (1 << SPE) | (1 << MSTR)
        ldi r17, (1 << PRSPI)
        clr r18
        out SPCR, r16
        out SPDR, r18
1:      in r19, SPSR
        sbrs r19, SPIF
        rjmp 1b
        sts PRR, r17
        in r19, SPDR
        sts PRR, r18
        in r19, SPSR
        sbrs r19, SPIF
        rjmp end
        .global kept
kept:
        nop
end:    rjmp end
