; With both pins driven by the processor the output of the comparator is not the choice of the environment.
#include "common.inc"
        vectors
start:  ldi r16, (1 << DDD6) | (1 << DDD7)
        out DDRD, r16
        sbi PORTD, PORTD7
        ldi r17, 20
1:      dec r17
        brne 1b
        in r18, ACSR
        sbrs r18, ACO
        rjmp end
        .global above
above:
        nop
end:    rjmp end
