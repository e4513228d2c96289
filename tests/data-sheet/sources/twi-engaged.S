; A master that sent a start goes on without TWSTA and TWEA.
#include "common.inc"
        vectors
start:  ldi r16, (1 << TWINT) | (1 << TWSTA) | (1 << TWEN)
        sts TWCR, r16
1:      lds r17, TWCR
        sbrs r17, TWINT
        rjmp 1b
        ldi r16, 0x42
        sts TWDR, r16
        ldi r16, (1 << TWINT) | (1 << TWEN)
        sts TWCR, r16
2:      lds r17, TWCR
        sbrs r17, TWINT
        rjmp 2b
        .global second
second:
        nop
end:    rjmp end
