; A conversion that is complete before the converter is switched off has set its flag.
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
        ldi r18, 20
1:      ldi r19, 100
2:      nop
        dec r19
        brne 2b
        dec r18
        brne 1b
        cbi ADCSRA, ADEN
        sbis ADCSRA, ADIF
        rjmp end
        .global complete
complete:
        nop
end:    rjmp end
