; A change of AS2 may corrupt the registers of the timer.
#include "common.inc"
        vectors
start:  ldi r16, 0x5a
        sts OCR2A, r16
        ldi r17, 1 << AS2
        sts ASSR, r17
        lds r18, OCR2A
        cp r18, r16
        brne other
        .global same
same:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
