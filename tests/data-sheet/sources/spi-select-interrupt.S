; A low level at SS requests an interrupt although nothing is sent.
#include "common.inc"
        vectors
        .global vector_17
vector_17:
        .global entered
entered:
        nop
        rjmp end
start:  ldi r16, (1 << DDB3) | (1 << DDB5)
        out DDRB, r16
        ldi r16, (1 << SPIE) | (1 << SPE) | (1 << MSTR)
        out SPCR, r16
        sei
end:    rjmp end
