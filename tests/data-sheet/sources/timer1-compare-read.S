; Reading a compare register does not use the temporary byte.
#include "common.inc"
        vectors
start:  ldi r16, 0x34
        ldi r17, 0x12
        sts OCR1AH, r17
        sts OCR1AL, r16
        ldi r18, 0x77
        sts OCR1BH, r18
        lds r19, OCR1AL
        lds r20, OCR1AH
        cp r19, r16
        brne other
        cp r20, r17
        brne other
        sts OCR1BL, r16
        lds r20, OCR1BH
        cp r20, r18
        brne lost
        .global same
same:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
        .global lost
lost:
        nop
        rjmp end
