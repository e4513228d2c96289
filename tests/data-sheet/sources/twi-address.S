; The address registers read back as written while the interface is on.
#include "common.inc"
        vectors
start:  ldi r16, 0x42
        sts TWAR, r16
        ldi r17, 0x30
        sts TWAMR, r17
        ldi r18, (1 << TWEA) | (1 << TWEN)
        sts TWCR, r18
1:      lds r19, TWCR
        sbrs r19, TWINT
        rjmp 1b
        lds r20, TWAR
        lds r21, TWAMR
        cp r16, r20
        brne other
        cp r17, r21
        brne other
        .global same
same:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
