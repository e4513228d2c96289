; Once ADCL was read the result stays until ADCH is read.
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
start:  ldi r16, 1
        out ADMUX, r16
        ldi r16, (1 << ADEN) | (1 << ADSC) | (1 << ADATE) | (1 << ADPS0)
        out ADCSRA, r16
1:      sbis ADCSRA, ADIF
        rjmp 1b
        in r18, ADCL
        ldi r22, 50
2:      dec r22
        brne 2b
        in r19, ADCL
        cp r18, r19
        brne differ
        in r20, ADCH
        .global read
read:
        nop
end:    rjmp end
        .global differ
differ:
        nop
        rjmp end
