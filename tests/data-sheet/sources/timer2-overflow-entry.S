; The entry into the handler clears the overflow flag.
#include "common.inc"
        vectors
        .global vector_9
vector_9:
        sbic TIFR2, TOV2
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
        ldi r16, (1 << CS20)
        sts TCCR2B, r16
1:      sbis TIFR2, TOV2
        rjmp 1b
        sts TCCR2B, r1
        ldi r16, 1 << TOIE2
        sts TIMSK2, r16
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
