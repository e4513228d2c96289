; The counter overflows from 15 to 0, which sets a flag.
; device: attiny85
#define __SFR_OFFSET 0
#include <avr/io.h>
        .macro vector name
        .weak \name
        rjmp \name
        .endm
        rjmp start
        .irp number, 1,2,3,4,5,6,7,8,9,10,11,12,13,14
        vector vector_\number
        .endr
start:  ldi r16, 1 << USIWM0
        out USICR, r16
        ldi r17, 14
        out USISR, r17
        ldi r16, (1 << USIWM0) | (1 << USICLK)
        out USICR, r16
        nop
        sbic USISR, USIOIF
        rjmp early
        out USICR, r16
        nop
        sbis USISR, USIOIF
        rjmp missing
        in r18, USISR
        andi r18, 0x0f
        brne missing
        .global overflow
overflow:
        nop
end:    rjmp end
        .global early
early:
        nop
        rjmp end
        .global missing
missing:
        nop
        rjmp end
