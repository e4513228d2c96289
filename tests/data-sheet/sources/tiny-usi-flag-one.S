; The overflow flag is cleared only by writing a one to it.
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
        ldi r17, 15
        out USISR, r17
        ldi r16, (1 << USIWM0) | (1 << USICLK)
        out USICR, r16
1:      sbis USISR, USIOIF
        rjmp 1b
        ldi r17, 0
        out USISR, r17
        sbis USISR, USIOIF
        rjmp lost
        ldi r17, 1 << USIOIF
        out USISR, r17
        sbic USISR, USIOIF
        rjmp still
        .global cleared
cleared:
        nop
end:    rjmp end
        .global lost
lost:
        nop
        rjmp end
        .global still
still:
        nop
        rjmp end
