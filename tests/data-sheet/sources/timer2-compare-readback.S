; In a PWM mode the processor reads the compare registers as it wrote them.
#include "common.inc"
        vectors
start:  ldi r16, (1 << WGM21) | (1 << WGM20)
        sts TCCR2A, r16
        ldi r16, (1 << CS20)
        sts TCCR2B, r16
        ldi r16, 0x5a
        ldi r17, 0xa5
        sts OCR2A, r16
        sts OCR2B, r17
        lds r18, OCR2A
        lds r19, OCR2B
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
