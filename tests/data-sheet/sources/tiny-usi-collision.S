; The data line is not what the shift register gives: another one drives it.
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
start:  ldi r16, (1 << USIWM1) | (1 << USICS1)
        out USICR, r16
        ldi r17, 0x80
        out USIDR, r17
        sbi DDRB, DDB0
        sbi PORTB, PORTB0
        nop
        nop
        sbis USISR, USIDC
        rjmp end
        .global collision
collision:
        nop
end:    rjmp end
