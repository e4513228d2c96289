; The overflow flag is cleared by writing a one to it.
#include "common.inc"
        vectors
start:  clr r1
        ldi r16, 0xff
        sts TCNT1H, r16
        sts TCNT1L, r1
        ldi r16, 1 << CS10
        sts TCCR1B, r16
1:      sbis TIFR1, TOV1
        rjmp 1b
        sts TCCR1B, r1
        sbi TIFR1, TOV1
        sbic TIFR1, TOV1
        rjmp still
        .global cleared
cleared:
        nop
end:    rjmp end
        .global still
still:
        nop
        rjmp end
