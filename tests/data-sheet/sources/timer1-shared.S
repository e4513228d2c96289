; A high byte that was written for one compare register goes to another one with the low byte.
#include "common.inc"
        vectors
start:  ldi r16, 0x34
        ldi r17, 0x12
        sts OCR1AH, r17
        sts OCR1BL, r16
        lds r18, OCR1BL
        lds r19, OCR1BH
        cp r18, r16
        brne other
        cp r19, r17
        brne other
        lds r19, OCR1AH
        cpi r19, 0
        brne written
        .global same
same:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
        .global written
written:
        nop
        rjmp end
