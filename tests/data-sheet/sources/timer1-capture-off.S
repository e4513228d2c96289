; In the modes with ICR1 as the top a stopped timer captures nothing.
#include "common.inc"
        vectors
start:  ldi r16, (1 << WGM13) | (1 << WGM12)
        sts TCCR1B, r16
        ldi r16, 0x34
        ldi r17, 0x12
        sts ICR1H, r17
        sts ICR1L, r16
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        sbi TIFR1, ICF1
        ldi r20, 100
1:      sbic TIFR1, ICF1
        rjmp captured
        dec r20
        brne 1b
        .global none
none:
        nop
end:    rjmp end
        .global captured
captured:
        nop
        rjmp end
