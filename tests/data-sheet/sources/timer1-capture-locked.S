; Outside the modes with ICR1 as the top the capture register cannot be written.
#include "common.inc"
        vectors
start:  ldi r16, 0x34
        ldi r17, 0x12
        sts ICR1H, r17
        sts ICR1L, r16
        lds r18, ICR1L
        lds r19, ICR1H
        cp r18, r16
        breq written
        .global kept
kept:
        nop
end:    rjmp end
        .global written
written:
        nop
        rjmp end
