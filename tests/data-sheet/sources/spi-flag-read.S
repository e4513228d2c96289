; Reading the status and then the data clears SPIF.
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
        in r19, SPDR
        in r18, SPSR
        sbrc r18, SPIF
        rjmp still
        .global cleared
cleared:
        nop
end:    rjmp end
        .global still
still:
        nop
        rjmp end
