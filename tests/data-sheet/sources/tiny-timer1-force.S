; A forced compare match reads 0 and raises no flag.
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
start:  ldi r16, (1 << FOC1A) | (1 << FOC1B)
        out GTCCR, r16
        in r18, GTCCR
        cpi r18, 0
        brne one
        in r18, TIFR
        cpi r18, 0
        brne flag
        .global none
none:
        nop
end:    rjmp end
        .global one
one:
        nop
        rjmp end
        .global flag
flag:
        nop
        rjmp end
