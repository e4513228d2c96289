; While TWINT is 1 the data register can be written, and that is no write collision.
#include "common.inc"
        vectors
start:  ldi r16, 0x42
        sts TWAR, r16
        ldi r16, (1 << TWEA) | (1 << TWEN)
        sts TWCR, r16
1:      lds r17, TWCR
        sbrs r17, TWINT
        rjmp 1b
        ldi r16, 0x5a
        sts TWDR, r16
        lds r18, TWDR
        lds r17, TWCR
        cp r16, r18
        brne other
        sbrc r17, TWWC
        rjmp collision
        .global written
written:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
        .global collision
collision:
        nop
        rjmp end
