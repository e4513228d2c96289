; With TSM the bit that resets the prescaler of timer 0 stays 1.
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
start:  ldi r16, (1 << TSM) | (1 << PSR0)
        out GTCCR, r16
        ldi r19, 100
1:      in r18, GTCCR
        cp r18, r16
        brne changed
        dec r19
        brne 1b
        .global kept
kept:
        nop
end:    rjmp end
        .global changed
changed:
        nop
        rjmp end
