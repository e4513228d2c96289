; What the converter makes of its ground channel is not the choice of the environment.
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
start:  sbi ADCSRB, ADLAR
        ldi r16, 1 << MUX5
        out ADMUX, r16
        ldi r16, (1 << ADEN) | (1 << ADSC) | (1 << ADPS0)
        out ADCSRA, r16
1:      sbic ADCSRA, ADSC
        rjmp 1b
        in r18, ADCH
        cpi r18, 0x80
        brlo end
        .global high
high:
        nop
end:    rjmp end
