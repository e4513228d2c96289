; One change of the prescaler needs one CLKPCE.
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
start:  ldi r16, 1 << CLKPCE
        ldi r17, 5
        ldi r18, 6
        out CLKPR, r16
        out CLKPR, r17
        out CLKPR, r18
        in r19, CLKPR
        cpi r19, 5
        brne other
        .global first
first:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
