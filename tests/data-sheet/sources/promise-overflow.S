; A timer that runs overflows again and again: what waits for its interrupt goes on.
#include "common.inc"
        vectors
start:  clr r1
        ldi r16, (1 << CS00)
        out TCCR0B, r16
        sts TIMSK0, r16
        ldi r17, 1
        sei
1:      sbrc r17, 0
        rjmp 1b
        .global done
done:   nop
end:    rjmp end
        .global vector_16
vector_16:
        clr r17
        reti
