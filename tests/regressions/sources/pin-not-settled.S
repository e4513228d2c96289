; A pin that drove 1 and is read as an input in the next instruction, where the synchroniser still has the 1.
#include "common.inc"
        vectors
start:  sbi PORTB, 0
        sbi DDRB, 0
        nop
        nop
        cbi DDRB, 0
        sbic PINB, 0
        rjmp end
        .global reached
reached:
        nop
end:    rjmp end
