; A capture may have come before the counter was written, and is seen only afterwards.
#include "common.inc"
        vectors
start:  clr r1
        ldi r16, 0x34
        ldi r17, 0x12
        sts TCNT1H, r17
        sts TCNT1L, r16
        nop
        sts TCNT1H, r1
        sts TCNT1L, r1
        sbis TIFR1, ICF1
        rjmp end
        lds r18, ICR1L
        cpi r18, 0x34
        breq before
        .global after
after:
        nop
end:    rjmp end
        .global before
before:
        nop
        rjmp end
