; The control bits read back as written.
#include "common.inc"
        vectors
start:  ldi r16, (1 << DDB2) | (1 << DDB3) | (1 << DDB5)
        out DDRB, r16
        ldi r16, (1 << SPE) | (1 << DORD) | (1 << MSTR) | (1 << CPOL) | (1 << CPHA) | (1 << SPR1)
        out SPCR, r16
        ldi r17, 1 << SPI2X
        out SPSR, r17
        in r18, SPCR
        in r19, SPSR
        cp r16, r18
        brne other
        cp r17, r19
        brne other
        .global same
same:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
