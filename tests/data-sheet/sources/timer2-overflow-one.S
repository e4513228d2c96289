; The overflow flag is cleared by writing a one to it, which leaves the other flags as they are.
#include "common.inc"
        vectors
start:  clr r1
        ldi r16, (1 << CS20)
        sts TCCR2B, r16
1:      in r18, TIFR2
        sbrs r18, OCF2A
        rjmp 1b
        sbrs r18, TOV2
        rjmp 1b
        sts TCCR2B, r1
        sbi TIFR2, TOV2
        in r18, TIFR2
        sbrc r18, TOV2
        rjmp still
        sbrs r18, OCF2A
        rjmp other
        .global cleared
cleared:
        nop
end:    rjmp end
        .global still
still:
        nop
        rjmp end
        .global other
other:
        nop
        rjmp end
