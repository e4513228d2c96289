; With the external clock the counter counts the edges that the environment makes.
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
1:      in r18, USISR
        andi r18, 0x0f
        cpi r18, 3
        brne 1b
        .global three
three:
        nop
end:    rjmp end
