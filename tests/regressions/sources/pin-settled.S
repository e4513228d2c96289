; A pin that drove 1 and is read as an input one instruction later.
#include "common.inc"
        vectors
start:  sbi PORTB, 0
        sbi DDRB, 0
        nop
        nop
        cbi DDRB, 0
        nop
        sbic PINB, 0
        rjmp end
        .global reached
reached:
        nop
end:    rjmp end
