; What is captured of a stopped timer is its value.
#include "common.inc"
        vectors
start:  ldi r16, 0x34
        ldi r17, 0x12
        sts TCNT1H, r17
        sts TCNT1L, r16
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        sbi TIFR1, ICF1
1:      sbis TIFR1, ICF1
        rjmp 1b
        lds r18, ICR1L
        lds r19, ICR1H
        cp r18, r16
        brne other
        cp r19, r17
        brne other
        .global captured
captured:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
