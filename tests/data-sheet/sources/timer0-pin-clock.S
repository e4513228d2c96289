; Timer 0 counts the edges that the environment makes at its pin.
#include "common.inc"
        vectors
start:  ldi r16, (1 << CS02) | (1 << CS01) | (1 << CS00)
        out TCCR0B, r16
1:      in r18, TCNT0
        cpi r18, 3
        brne 1b
        .global three
three:
        nop
end:    rjmp end
