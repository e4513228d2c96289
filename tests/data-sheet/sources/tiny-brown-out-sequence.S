; Hardware clears both bits again.
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
start:  ldi r16, (1 << BODS) | (1 << BODSE)
        ldi r17, 1 << BODS
        out MCUCR, r16
        out MCUCR, r17
        nop
        nop
        nop
        nop
        nop
        nop
        in r18, MCUCR
        sbrc r18, BODS
        rjmp still
        sbrc r18, BODSE
        rjmp still
        .global cleared
cleared:
        nop
end:    rjmp end
        .global still
still:
        nop
        rjmp end
