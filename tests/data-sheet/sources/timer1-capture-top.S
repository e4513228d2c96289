; In the modes with ICR1 as the top it keeps what is written.
#include "common.inc"
        vectors
start:  ldi r16, (1 << WGM13) | (1 << WGM12)
        sts TCCR1B, r16
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        ldi r16, 0x34
        ldi r17, 0x12
        sts ICR1H, r17
        sts ICR1L, r16
        ldi r20, 100
1:      dec r20
        brne 1b
        lds r18, ICR1L
        lds r19, ICR1H
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
