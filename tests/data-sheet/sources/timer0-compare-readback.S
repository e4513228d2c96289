; In a PWM mode the processor reads the compare registers as it wrote them.
#include "common.inc"
        vectors
start:  ldi r16, (1 << WGM01) | (1 << WGM00)
        out TCCR0A, r16
        ldi r16, (1 << CS00)
        out TCCR0B, r16
        ldi r16, 0x5a
        ldi r17, 0xa5
        out OCR0A, r16
        out OCR0B, r17
        in r18, OCR0A
        in r19, OCR0B
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
