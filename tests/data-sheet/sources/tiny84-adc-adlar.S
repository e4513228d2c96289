; ADLAR moves a result that is already there.
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
start:  ldi r16, 1
        out ADMUX, r16
        ldi r16, (1 << ADEN) | (1 << ADSC) | (1 << ADPS0)
        out ADCSRA, r16
1:      sbic ADCSRA, ADSC
        rjmp 1b
        in r18, ADCL
        in r19, ADCH
        sbi ADCSRB, ADLAR
        in r20, ADCL
        in r21, ADCH
        lsr r19
        ror r18
        lsr r19
        ror r18
        cp r18, r21
        brne differ
        .global moved
moved:
        nop
end:    rjmp end
        .global differ
differ:
        nop
        rjmp end
