; An input whose digital buffer is off reads 0.
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
start:  ldi r16, 1 << ADC1D
        out DIDR0, r16
        nop
        nop
        nop
        nop
        ldi r19, 100
1:      sbic PINB, PINB2
        rjmp high
        dec r19
        brne 1b
        .global low
low:
        nop
end:    rjmp end
        .global high
high:
        nop
        rjmp end
