; As long as TWINT is 0 the status is that nothing is known.
#include "common.inc"
        vectors
start:  ldi r16, 0x42
        sts TWAR, r16
        ldi r16, (1 << TWEA) | (1 << TWEN)
        sts TWCR, r16
1:      lds r18, TWSR
        lds r17, TWCR
        sbrc r17, TWINT
        rjmp set
        andi r18, 0xf8
        cpi r18, 0xf8
        brne other
        rjmp 1b
        .global set
set:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
