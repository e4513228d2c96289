; Compare matches have vectors of their own. Pins choose which are enabled; the overflow is not.
; device: attiny13
#define __SFR_OFFSET 0
#include <avr/io.h>
        .macro vector name
        .weak \name
        rjmp \name
        .endm
        rjmp start
        .irp number, 1,2,3,4,5,6,7,8,9
        vector vector_\number
        .endr
        .global vector_3
vector_3:
        .global timer0_overflow
timer0_overflow:
        nop
        rjmp end
        .global vector_6
vector_6:
        .global timer0_a
timer0_a:
        nop
        rjmp end
        .global vector_7
vector_7:
        .global timer0_b
timer0_b:
        nop
        rjmp end
start:  in r16, PINB
        andi r16, (1 << OCIE0A) | (1 << OCIE0B)
        out TIMSK0, r16
        ldi r16, 1
        out TCCR0B, r16
        sei
end:    rjmp end
