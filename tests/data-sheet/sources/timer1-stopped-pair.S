; A high byte that is written while timer 1 has no clock may be the one that the low byte takes with it.
#include "common.inc"
        vectors
start:  ldi r16, 5
        ldi r17, 1 << PRTIM1
        clr r18
        sts OCR1AH, r18
        sts OCR1AL, r18
        sts PRR, r17
        sts OCR1AH, r16
        sts PRR, r18
        sts OCR1AL, r18
        lds r19, OCR1AL
        lds r19, OCR1AH
        cpi r19, 5
        brne end
        .global taken
taken:
        nop
end:    rjmp end
