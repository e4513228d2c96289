; TWINT is cleared by writing a one to it, and the interface that is switched off by the same write does not set it again.
#include "common.inc"
        vectors
start:  ldi r16, 0x42
        sts TWAR, r16
        ldi r16, (1 << TWEA) | (1 << TWEN)
        sts TWCR, r16
1:      lds r17, TWCR
        sbrs r17, TWINT
        rjmp 1b
        ldi r16, 1 << TWINT
        sts TWCR, r16
        nop
        lds r17, TWCR
        sbrc r17, TWINT
        rjmp still
        .global cleared
cleared:
        nop
end:    rjmp end
        .global still
still:
        nop
        rjmp end
