; EEMPE is cleared after four cycles, and EEPE then has no effect.
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
1:      sbic EECR, EEPE
        rjmp 1b
        out EEARH, r1
        ldi r16, 5
        out EEARL, r16
        sbi EECR, EEMPE
        nop
        nop
        nop
        nop
        nop
        sbic EECR, EEMPE
        rjmp still
        sbi EECR, EEPE
        sbic EECR, EEPE
        rjmp started
        .global nothing
nothing:
        nop
end:    rjmp end
        .global still
still:
        nop
        rjmp end
        .global started
started:
        nop
        rjmp end
