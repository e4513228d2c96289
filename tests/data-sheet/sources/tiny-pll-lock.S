; The PLL locks after some time.
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
start:  ldi r16, 1 << PLLE
        out PLLCSR, r16
        in r18, PLLCSR
        sbrs r18, PLOCK
        rjmp unlocked
        .global locked
locked:
        nop
end:    rjmp end
        .global unlocked
unlocked:
        nop
        rjmp end
