; The overflow flag is cleared by writing a one to it, which leaves the other flags as they are.
#include "common.inc"
        vectors
start:  clr r1
        ldi r16, (1 << CS00)
        out TCCR0B, r16
1:      in r18, TIFR0
        sbrs r18, OCF0A
        rjmp 1b
        sbrs r18, TOV0
        rjmp 1b
        out TCCR0B, r1
        sbi TIFR0, TOV0
        in r18, TIFR0
        sbrc r18, TOV0
        rjmp still
        sbrs r18, OCF0A
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
