; Compare matches of timer 3 have vectors of their own. Pins choose which are enabled; the overflow and the capture are not.
; device: atmega1284p
#define __SFR_OFFSET 0
#include <avr/io.h>
        .macro vector name
        .weak \name
        jmp \name
        .endm
        jmp start
        .irp number, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34
        vector vector_\number
        .endr
        .global vector_13
vector_13:
        .global timer1_a
timer1_a:
        nop
        rjmp end
        .global vector_31
vector_31:
        .global capture
capture:
        nop
        rjmp end
        .global vector_32
vector_32:
        .global timer3_a
timer3_a:
        nop
        rjmp end
        .global vector_33
vector_33:
        .global timer3_b
timer3_b:
        nop
        rjmp end
        .global vector_34
vector_34:
        .global timer3_overflow
timer3_overflow:
        nop
        rjmp end
start:  in r16, PINA
        andi r16, (1 << OCIE3B) | (1 << OCIE3A)
        sts TIMSK3, r16
        ldi r16, 1
        sts TCCR3B, r16
        sei
end:    rjmp end
