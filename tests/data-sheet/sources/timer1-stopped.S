; A stopped timer keeps what is written to it.
#include "common.inc"
        vectors
start:  ldi r16, 0x34
        ldi r17, 0x12
        sts TCNT1H, r17
        sts TCNT1L, r16
        lds r18, TCNT1L
        lds r19, TCNT1H
        cp r18, r16
        brne other
        cp r19, r17
        brne other
        .global same
same:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
