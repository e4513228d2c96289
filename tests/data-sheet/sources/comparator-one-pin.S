; With one pin as an input the output of the comparator is the choice of the environment.
#include "common.inc"
        vectors
start:  ldi r16, 1 << DDD6
        out DDRD, r16
        sbi PORTD, PORTD6
        nop
        nop
        nop
        in r18, ACSR
        sbrc r18, ACO
        rjmp high
        .global low
low:
        nop
end:    rjmp end
        .global high
high:
        nop
        rjmp end
