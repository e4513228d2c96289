; TWINT is not cleared by writing a zero to it.
#include "common.inc"
        vectors
start:  ldi r16, 0x42
        sts TWAR, r16
        ldi r16, (1 << TWEA) | (1 << TWEN)
        sts TWCR, r16
1:      lds r17, TWCR
        sbrs r17, TWINT
        rjmp 1b
        ldi r16, (1 << TWEA) | (1 << TWEN)
        sts TWCR, r16
        lds r17, TWCR
        sbrs r17, TWINT
        rjmp lost
        .global kept
kept:
        nop
end:    rjmp end
        .global lost
lost:
        nop
        rjmp end
