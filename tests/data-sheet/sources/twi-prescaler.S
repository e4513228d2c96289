; The prescaler bits of the status register read back as written.
#include "common.inc"
        vectors
start:  ldi r16, 3
        sts TWSR, r16
        ldi r17, 0x42
        sts TWBR, r17
        lds r18, TWSR
        lds r19, TWBR
        cpi r18, 0xfb
        brne other
        cpi r19, 0x42
        brne other
        .global same
same:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
