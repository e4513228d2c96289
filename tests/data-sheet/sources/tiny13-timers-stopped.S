; A timer that was never started stays at 0 and sets no flags.
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
start:  ldi r19, 100
1:      in r18, TIFR0
        cpi r18, 0
        brne flag
        in r18, TCNT0
        cpi r18, 0
        brne moved
        dec r19
        brne 1b
        .global still
still:
        nop
end:    rjmp end
        .global flag
flag:
        nop
        rjmp end
        .global moved
moved:
        nop
        rjmp end
