; A slave in which software never sets TWSTO reads it as 0.
#include "common.inc"
        vectors
start:  ldi r16, 0x42
        sts TWAR, r16
        ldi r16, (1 << TWEA) | (1 << TWEN)
        sts TWCR, r16
1:      lds r17, TWCR
        sbrs r17, TWINT
        rjmp 1b
        sbrc r17, TWSTO
        rjmp stop
        sbrc r17, TWSTA
        rjmp stop
        .global none
none:
        nop
end:    rjmp end
        .global stop
stop:
        nop
        rjmp end
