; Without a write to the data register there is no write collision.
#include "common.inc"
        vectors
start:  ldi r16, 0x42
        sts TWAR, r16
        ldi r16, (1 << TWEA) | (1 << TWEN)
        sts TWCR, r16
1:      lds r17, TWCR
        sbrs r17, TWINT
        rjmp 1b
        sbrc r17, TWWC
        rjmp collision
        .global none
none:
        nop
end:    rjmp end
        .global collision
collision:
        nop
        rjmp end
