; An event of the two-wire bus in the instruction after the one that waits for it.
#include "common.inc"
        vectors
start:  ldi r16, (1 << TWEN) | (1 << TWEA) | (1 << TWINT)
        sts TWCR, r16
        lds r17, TWCR
        sbrs r17, TWINT
        rjmp end
        .global reached
reached:
        nop
end:    rjmp end
