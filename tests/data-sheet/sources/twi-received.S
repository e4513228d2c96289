; A slave receives what the master sends.
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
        cpi r18, 0x60
        brne end
        ldi r16, (1 << TWINT) | (1 << TWEA) | (1 << TWEN)
        sts TWCR, r16
2:      lds r17, TWCR
        sbrs r17, TWINT
        rjmp 2b
        lds r18, TWSR
        cpi r18, 0x80
        brne end
        lds r19, TWDR
        cpi r19, 0x3c
        brne end
        .global chosen
chosen:
        nop
end:    rjmp end
