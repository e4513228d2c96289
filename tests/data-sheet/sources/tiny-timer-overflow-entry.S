; The entry into the handler clears the overflow flag.
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
        .global vector_5
vector_5:
        in r18, TIFR
        sbrc r18, TOV0
        rjmp still
        cpi r20, 1
        breq again
        ldi r20, 1
        .global entered
entered:
        nop
        reti
start:  clr r1
        clr r20
        ldi r16, 1 << CS00
        out TCCR0B, r16
1:      in r18, TIFR
        sbrs r18, TOV0
        rjmp 1b
        out TCCR0B, r1
        ldi r16, 1 << TOIE0
        out TIMSK, r16
        sei
end:    rjmp end
        .global still
still:
        nop
        rjmp end
        .global again
again:
        nop
        rjmp end
