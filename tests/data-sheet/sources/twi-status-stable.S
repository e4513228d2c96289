; While TWINT is 1 two reads of the status agree, and so do two of the data.
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
        lds r19, TWSR
        lds r20, TWDR
        lds r21, TWDR
        cp r18, r19
        brne status_differs
        cp r20, r21
        brne data_differs
        cpi r18, 0x60
        brne end
        .global addressed
addressed:
        nop
end:    rjmp end
        .global status_differs
status_differs:
        nop
        rjmp end
        .global data_differs
data_differs:
        nop
        rjmp end
