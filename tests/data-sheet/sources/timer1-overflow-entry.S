; The entry into the handler clears the overflow flag.
#include "common.inc"
        vectors
        .global vector_13
vector_13:
        sbic TIFR1, TOV1
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
        ldi r16, 0xff
        sts TCNT1H, r16
        sts TCNT1L, r1
        ldi r16, 1 << CS10
        sts TCCR1B, r16
1:      sbis TIFR1, TOV1
        rjmp 1b
        sts TCCR1B, r1
        ldi r16, 1 << TOIE1
        sts TIMSK1, r16
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
