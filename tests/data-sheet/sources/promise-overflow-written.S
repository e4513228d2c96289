; A counter that is written again and again need not come to its maximum.
#include "common.inc"
        vectors
start:  clr r1
        ldi r16, (1 << CS02) | (1 << CS00)
        out TCCR0B, r16
1:      out TCNT0, r1
        sbis TIFR0, TOV0
        rjmp 1b
        .global done
done:   nop
end:    rjmp end
