; The level of an input is the choice of the environment.
#include "common.inc"
        vectors
start:  sbi PORTB, PORTB0
        nop
        nop
        sbic PINB, PINB0
        rjmp high
        .global low
low:
        nop
end:    rjmp end
        .global high
high:
        nop
        rjmp end
