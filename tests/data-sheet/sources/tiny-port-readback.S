; The port reads back as written while the serial interface is not used.
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
start:  ldi r16, 0x15
        out PORTB, r16
        ldi r19, 50
1:      dec r19
        brne 1b
        in r18, PORTB
        cp r18, r16
        brne other
        ldi r16, 0x06
        out PINB, r16
        in r18, PORTB
        cpi r18, 0x13
        brne other
        .global same
same:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
