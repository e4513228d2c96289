; The toggle strobe of the serial interface toggles one bit of the port.
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
start:  ldi r16, 0x01
        out PORTB, r16
        ldi r16, (1 << USIWM0) | (1 << USITC)
        out USICR, r16
        nop
        in r18, PORTB
        cpi r18, 0x05
        brne end
        .global toggled
toggled:
        nop
end:    rjmp end
