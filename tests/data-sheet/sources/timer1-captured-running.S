; What was captured while the timer ran is not what it has now.
#include "common.inc"
        vectors
start:  clr r1
        ldi r16, 1 << CS10
        sts TCCR1B, r16
        ldi r19, 40
1:      dec r19
        brne 1b
        sts TCCR1B, r1
        sts TCNT1H, r1
        sts TCNT1L, r1
        sbis TIFR1, ICF1
        rjmp end
        lds r18, ICR1L
        cpi r18, 0
        brne running
        .global zero
zero:
        nop
end:    rjmp end
        .global running
running:
        nop
        rjmp end
