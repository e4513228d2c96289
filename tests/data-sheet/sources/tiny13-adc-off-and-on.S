; Switching the converter off for a moment terminates a conversion.
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
start:  ldi r16, (1 << ADEN) | (1 << ADSC) | (1 << ADPS2) | (1 << ADPS1) | (1 << ADPS0)
        out ADCSRA, r16
        cbi ADCSRA, ADEN
        sbi ADCSRA, ADEN
        in r18, ADCSRA
        sbrc r18, ADSC
        rjmp still
        sbrc r18, ADIF
        rjmp end
        .global terminated
terminated:
        nop
end:    rjmp end
        .global still
still:
        nop
        rjmp end
