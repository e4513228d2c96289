; The reset flags are cleared by writing zeros to them.
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
start:  clr r1
        in r18, MCUSR
        sbrs r18, PORF
        rjmp missing
        out MCUSR, r1
        in r18, MCUSR
        cpi r18, 0
        brne still
        .global cleared
cleared:
        nop
end:    rjmp end
        .global missing
missing:
        nop
        rjmp end
        .global still
still:
        nop
        rjmp end
