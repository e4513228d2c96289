; With a clock from outside the data and the counter may change at any moment, and the program sees what was shifted in.
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

start:  ldi r16, (1 << USIWM0) | (1 << USICS1)
        out USICR, r16
        ldi r17, 0x5a
        out USIDR, r17
        ldi r19, 50
1:      dec r19
        brne 1b
        in r18, USIDR
        cpi r18, 0xb5
        breq shifted
        in r18, USISR
        sbrc r18, USIOIF
        rjmp overflow
        rjmp end
        .global shifted
shifted:
        nop
end:    rjmp end
        .global overflow
overflow:
        nop
        rjmp end
