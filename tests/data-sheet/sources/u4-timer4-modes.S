; Strobes read 0, and what a fault or another register changes reads anything.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
start:
        ldi r16, (1 << FOC4A) | (1 << FOC4B) | (1 << PWM4A) | (1 << PWM4B)
        sts TCCR4A, r16
        lds r17, TCCR4A
        andi r17, 0x0f
        cpi r17, (1 << PWM4A) | (1 << PWM4B)
        breq 1f
        rjmp other
1:
        ldi r16, (1 << FOC4D) | (1 << PWM4D)
        sts TCCR4C, r16
        lds r17, TCCR4C
        andi r17, 0x03
        cpi r17, 1 << PWM4D
        breq 1f
        rjmp other
1:
        ldi r16, (1 << WGM41) | (1 << FPES4)
        sts TCCR4D, r16
        lds r17, TCCR4D
        andi r17, (1 << FPIE4) | (1 << FPNC4) | (1 << FPES4) | (1 << FPAC4) | (1 << WGM41) | (1 << WGM40)
        cp r16, r17
        breq 1f
        rjmp other
1:
        sbis PINB, PINB0
        rjmp lower
        lds r18, TCCR4A
        andi r18, 0xf0
        cpi r18, 0xf0
        breq 1f
        rjmp end
1:
        lds r18, TCCR4B
        andi r18, 0x40
        cpi r18, 0x40
        breq 1f
        rjmp end
1:
        lds r18, TCCR4C
        andi r18, 0xfc
        cpi r18, 0xfc
        breq 1f
        rjmp end
1:
        lds r18, TCCR4D
        andi r18, 0x40
        cpi r18, 0x40
        breq 1f
        rjmp end
1:
        lds r18, TCCR4E
        andi r18, 0x3f
        cpi r18, 0x3f
        breq 1f
        rjmp end
1:
        rjmp ones
lower:
        lds r18, TCCR4A
        andi r18, 0xf0
        breq 1f
        rjmp end
1:
        lds r18, TCCR4B
        andi r18, 0x40
        breq 1f
        rjmp end
1:
        lds r18, TCCR4C
        andi r18, 0xfc
        breq 1f
        rjmp end
1:
        lds r18, TCCR4D
        andi r18, 0x40
        breq 1f
        rjmp end
1:
        lds r18, TCCR4E
        andi r18, 0x3f
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
        .global other
other:
        nop
        rjmp end
