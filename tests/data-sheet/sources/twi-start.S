; The hardware sends a START, and leaves TWSTA set.
#include "common.inc"
        vectors
start:  ldi r16, (1 << TWINT) | (1 << TWSTA) | (1 << TWEN)
        sts TWCR, r16
1:      lds r17, TWCR
        sbrs r17, TWINT
        rjmp 1b
        sbrs r17, TWSTA
        rjmp cleared
        lds r18, TWSR
        cpi r18, 0x08
        brne end
        .global started
started:
        nop
end:    rjmp end
        .global cleared
cleared:
        nop
        rjmp end
