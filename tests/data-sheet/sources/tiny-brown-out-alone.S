; Without the enable bit the detector stays on.
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
start:  ldi r17, 1 << BODS
        out MCUCR, r17
        in r18, MCUCR
        sbrc r18, BODS
        rjmp set
        .global clear
clear:
        nop
end:    rjmp end
        .global set
set:
        nop
        rjmp end
