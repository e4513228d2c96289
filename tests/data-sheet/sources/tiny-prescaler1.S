; The bit that resets the prescaler of timer 1 always reads 0.
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
start:  ldi r16, 1 << PSR1
        out GTCCR, r16
        in r18, GTCCR
        cpi r18, 0
        brne one
        .global zero
zero:
        nop
end:    rjmp end
        .global one
one:
        nop
        rjmp end
