; While TWINT is 1 the status is one of those in the tables.
#include "common.inc"
        vectors
start:  ldi r16, 0x42
        sts TWAR, r16
        ldi r16, (1 << TWEA) | (1 << TWEN)
        sts TWCR, r16
1:      lds r17, TWCR
        sbrs r17, TWINT
        rjmp 1b
        lds r18, TWSR
        andi r18, 0xf8
        cpi r18, 0xd0
        brsh other
        .global listed
listed:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
