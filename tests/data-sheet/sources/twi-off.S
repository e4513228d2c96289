; While the interface is off TWINT stays 0.
#include "common.inc"
        vectors
        .global vector_24
vector_24:
        .global entered
entered:
        nop
        rjmp end
start:  ldi r16, (1 << TWEA) | (1 << TWIE)
        sts TWCR, r16
        sei
        ldi r19, 100
1:      lds r18, TWCR
        sbrc r18, TWINT
        rjmp flag
        dec r19
        brne 1b
        .global none
none:
        nop
end:    rjmp end
        .global flag
flag:
        nop
        rjmp end
