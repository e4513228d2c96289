; The entry into the handler clears the overflow flag.
#include "common.inc"
        vectors
        .global vector_16
vector_16:
        sbic TIFR0, TOV0
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
        ldi r16, (1 << CS00)
        out TCCR0B, r16
1:      sbis TIFR0, TOV0
        rjmp 1b
        out TCCR0B, r1
        ldi r16, 1 << TOIE0
        sts TIMSK0, r16
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
