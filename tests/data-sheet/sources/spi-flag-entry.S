; The entry into the handler clears SPIF.
#include "common.inc"
        vectors
        .global vector_17
vector_17:
        in r18, SPSR
        sbrc r18, SPIF
        rjmp still
        cpi r20, 1
        breq again
        ldi r20, 1
        .global entered
entered:
        nop
        reti
start:  ldi r16, (1 << DDB2) | (1 << DDB3) | (1 << DDB5)
        out DDRB, r16
        clr r20
        ldi r16, (1 << SPIE) | (1 << SPE) | (1 << MSTR)
        out SPCR, r16
        ldi r17, 0x11
        out SPDR, r17
        sei
end:    rjmp end
        .global still
still:
        nop
        rjmp end
        .global again
again:
        nop
        rjmp end
