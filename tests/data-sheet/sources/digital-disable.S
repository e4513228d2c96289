; The registers that switch off digital inputs read back as written.
#include "common.inc"
        vectors
start:  ldi r16, 0x15
        sts DIDR0, r16
        ldi r17, 0x02
        sts DIDR1, r17
        ldi r24, 50
1:      dec r24
        brne 1b
        lds r25, DIDR0
        cp r25, r16
        brne other
        lds r25, DIDR1
        cp r25, r17
        brne other
        .global same
same:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
