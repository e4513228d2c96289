; While the flag of a capture stands there may be another one.
#include "common.inc"
        vectors
start:  clr r1
        ldi r16, 0x34
        ldi r17, 0x12
        sts TCNT1H, r17
        sts TCNT1L, r16
        nop
        nop
        nop
        nop
        sbi TIFR1, ICF1
1:      sbis TIFR1, ICF1
        rjmp 1b
        sts TCNT1H, r1
        sts TCNT1L, r1
        lds r18, ICR1L
        cpi r18, 0x34
        brne again
        .global first
first:
        nop
end:    rjmp end
        .global again
again:
        nop
        rjmp end
