; A low level wakes the processor from power-down.
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
        .global vector_1
vector_1:
        reti
start:  ldi r16, 1 << INT0
        out GIMSK, r16
        ldi r16, (1 << SE) | (1 << SM1)
        out MCUCR, r16
        sei
        nop
        sleep
        nop
        .global woken
woken:
        nop
end:    rjmp end
