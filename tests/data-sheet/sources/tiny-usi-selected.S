; Where the same write selects the strobe and strobes, the sheet does not say whether it clocks.
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

start:  ldi r16, (1 << USIWM0) | (1 << USICS0)
        out USICR, r16
        ldi r16, (1 << USIWM0) | (1 << USICLK)
        ldi r17, 5
        out USISR, r17
        out USICR, r16
        nop
        in r18, USISR
        andi r18, 0x0f
        cpi r18, 6
        brne kept
        .global counted
counted:
        nop
end:    rjmp end
        .global kept
kept:
        nop
        rjmp end
