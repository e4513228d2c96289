; The flags of the timer are cleared one by one.
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
start:  clr r1
        ldi r16, 1 << CS00
        out TCCR0B, r16
1:      in r18, TIFR0
        sbrs r18, TOV0
        rjmp 1b
        out TCCR0B, r1
        out TIFR0, r1
        ldi r16, (1 << OCF0A) | (1 << OCF0B)
        out TIFR0, r16
        in r18, TIFR0
        sbrs r18, TOV0
        rjmp lost
        ldi r16, 1 << TOV0
        out TIFR0, r16
        in r18, TIFR0
        sbrc r18, TOV0
        rjmp still
        .global cleared
cleared:
        nop
end:    rjmp end
        .global lost
lost:
        nop
        rjmp end
        .global still
still:
        nop
        rjmp end
