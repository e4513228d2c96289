; Writing ones to the input register of port B toggles those bits of the port.
; device: attiny84
#define __SFR_OFFSET 0
#include <avr/io.h>
        .macro vector name
        .weak \name
        rjmp \name
        .endm
        rjmp start
        .irp number, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16
        vector vector_\number
        .endr
start:  ldi r16, 0x05
        out PORTB, r16
        ldi r16, 0x0c
        out PINB, r16
        in r18, PORTB
        cpi r18, 0x09
        brne other
        .global toggled
toggled:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
