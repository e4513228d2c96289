; Compare matches have vectors of their own. Pins choose which are enabled; overflows and the capture are not.
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
        .global vector_5
vector_5:
        .global capture
capture:
        nop
        rjmp end
        .global vector_6
vector_6:
        .global timer1_a
timer1_a:
        nop
        rjmp end
        .global vector_7
vector_7:
        .global timer1_b
timer1_b:
        nop
        rjmp end
        .global vector_8
vector_8:
        .global timer1_overflow
timer1_overflow:
        nop
        rjmp end
        .global vector_9
vector_9:
        .global timer0_a
timer0_a:
        nop
        rjmp end
        .global vector_10
vector_10:
        .global timer0_b
timer0_b:
        nop
        rjmp end
        .global vector_11
vector_11:
        .global timer0_overflow
timer0_overflow:
        nop
        rjmp end
start:  in r16, PINB
        andi r16, (1 << OCIE0B) | (1 << OCIE0A)
        out TIMSK0, r16
        in r16, PINA
        andi r16, (1 << OCIE1B) | (1 << OCIE1A)
        out TIMSK1, r16
        ldi r16, 1
        out TCCR0B, r16
        out TCCR1B, r16
        sei
end:    rjmp end
