; A write to the data register while TWINT is 0 is a write collision.
#include "common.inc"
        vectors
start:  ldi r16, 1 << TWEN
        sts TWCR, r16
        ldi r16, 0x5a
        sts TWDR, r16
        lds r17, TWCR
        sbrc r17, TWINT
        rjmp end
        sbrs r17, TWWC
        rjmp no_collision
        .global collision
collision:
        nop
end:    rjmp end
        .global no_collision
no_collision:
        nop
        rjmp end
