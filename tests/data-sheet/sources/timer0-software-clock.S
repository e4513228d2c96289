; Timer 0 counts the edges that the program makes at its pin.
#include "common.inc"
        vectors
start:  ldi r16, 1 << DDD4
        out DDRD, r16
        ldi r16, (1 << CS02) | (1 << CS01) | (1 << CS00)
        out TCCR0B, r16
        nop
        nop
        nop
        nop
        sbi PORTD, PORTD4
        nop
        nop
        nop
        nop
        nop
        nop
        in r18, TCNT0
        cpi r18, 1
        brne end
        .global one
one:
        nop
end:    rjmp end
