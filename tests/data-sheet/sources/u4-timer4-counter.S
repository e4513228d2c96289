; Its counter, its compare registers and the byte that they share read anything.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
start:
        ldi r16, 1
        ldi r17, 0x55
        sts TC4H, r16
        sts TCNT4L, r17
        sts TC4H, r16
        sts OCR4A, r17
        sts OCR4B, r17
        sts OCR4C, r17
        sts OCR4D, r17
        sts DT4, r17
        nop
        nop
        sbis PINB, PINB0
        rjmp lower
        lds r18, TCNT4L
        andi r18, 0xff
        cpi r18, 0xff
        breq 1f
        rjmp end
1:
        lds r18, TC4H
        andi r18, 0x07
        cpi r18, 0x07
        breq 1f
        rjmp end
1:
        lds r18, OCR4A
        andi r18, 0xff
        cpi r18, 0xff
        breq 1f
        rjmp end
1:
        lds r18, OCR4B
        andi r18, 0xff
        cpi r18, 0xff
        breq 1f
        rjmp end
1:
        lds r18, OCR4C
        andi r18, 0xff
        cpi r18, 0xff
        breq 1f
        rjmp end
1:
        lds r18, OCR4D
        andi r18, 0xff
        cpi r18, 0xff
        breq 1f
        rjmp end
1:
        lds r18, DT4
        andi r18, 0xff
        cpi r18, 0xff
        breq 1f
        rjmp end
1:
        rjmp ones
lower:
        lds r18, TCNT4L
        andi r18, 0xff
        breq 1f
        rjmp end
1:
        lds r18, TC4H
        andi r18, 0x07
        breq 1f
        rjmp end
1:
        lds r18, OCR4A
        andi r18, 0xff
        breq 1f
        rjmp end
1:
        lds r18, OCR4B
        andi r18, 0xff
        breq 1f
        rjmp end
1:
        lds r18, OCR4C
        andi r18, 0xff
        breq 1f
        rjmp end
1:
        lds r18, OCR4D
        andi r18, 0xff
        breq 1f
        rjmp end
1:
        lds r18, DT4
        andi r18, 0xff
        breq 1f
        rjmp end
1:
        .global zeros
zeros:
        nop
end:    rjmp end
        .global ones
ones:
        nop
        rjmp end
