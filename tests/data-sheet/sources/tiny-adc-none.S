; A converter that is only switched on converts nothing.
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
start:  sbi ADCSRA, ADEN
        ldi r19, 100
1:      sbic ADCSRA, ADIF
        rjmp flag
        in r18, ADCL
        in r20, ADCH
        or r18, r20
        brne nonzero
        dec r19
        brne 1b
        .global none
none:
        nop
end:    rjmp end
        .global flag
flag:
        nop
        rjmp end
        .global nonzero
nonzero:
        nop
        rjmp end
