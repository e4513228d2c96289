; The entry into the handler does not clear TWINT.
#include "common.inc"
        vectors
        .global vector_24
vector_24:
        lds r17, TWCR
        sbrs r17, TWINT
        rjmp cleared
        .global entered
entered:
        nop
        rjmp end
start:  ldi r16, 0x42
        sts TWAR, r16
        ldi r16, (1 << TWEA) | (1 << TWEN) | (1 << TWIE)
        sts TWCR, r16
        sei
end:    rjmp end
        .global cleared
cleared:
        nop
        rjmp end
