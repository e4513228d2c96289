; Without WDCE the prescaler stays as it is.
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
start:  ldi r16, (1 << WDP3) | (1 << WDP0)
        out WDTCR, r16
        in r18, WDTCR
        andi r18, (1 << WDP3) | (1 << WDP2) | (1 << WDP1) | (1 << WDP0)
        brne changed
        .global kept
kept:
        nop
end:    rjmp end
        .global changed
changed:
        nop
        rjmp end
