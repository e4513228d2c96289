; The toggle strobe of the serial interface toggles one bit of the port.
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
start:  ldi r16, 0x01
        out PORTA, r16
        ldi r16, (1 << USIWM0) | (1 << USITC)
        out USICR, r16
        nop
        in r18, PORTA
        cpi r18, 0x11
        brne end
        .global toggled
toggled:
        nop
end:    rjmp end
