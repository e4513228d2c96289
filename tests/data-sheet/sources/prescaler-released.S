; A timer counts again when its prescaler is released.
#include "common.inc"
        vectors
start:  clr r1
        ldi r16, (1 << TSM) | (1 << PSRSYNC)
        out GTCCR, r16
        ldi r16, 1 << CS01
        out TCCR0B, r16
        ldi r17, 0x20
        out TCNT0, r17
        out GTCCR, r1
        ldi r19, 40
1:      dec r19
        brne 1b
        in r18, TCNT0
        cpi r18, 0x20
        breq end
        .global moved
moved:
        nop
end:    rjmp end
