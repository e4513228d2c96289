; A device that does not acknowledge its address is not addressed.
#include "common.inc"
        vectors
start:  ldi r16, 0x42
        sts TWAR, r16
        ldi r16, 1 << TWEN
        sts TWCR, r16
1:      lds r17, TWCR
        sbrs r17, TWINT
        rjmp 1b
        lds r18, TWSR
        cpi r18, 0x60
        breq addressed
        cpi r18, 0xa8
        breq addressed
end:    rjmp end
        .global addressed
addressed:
        nop
        rjmp end
