; CLKPCE is cleared after four cycles.
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
start:  in r17, CLKPR
        ldi r16, 1 << CLKPCE
        ldi r20, 5
        out CLKPR, r16
        nop
        nop
        nop
        nop
        in r18, CLKPR
        sbrc r18, CLKPCE
        rjmp open
        out CLKPR, r20
        in r18, CLKPR
        cp r17, r18
        brne changed
        .global kept
kept:
        nop
end:    rjmp end
        .global open
open:
        nop
        rjmp end
        .global changed
changed:
        nop
        rjmp end
