; The multiplexer connects another pin, which the environment drives.
#include "common.inc"
        vectors
start:  ldi r16, (1 << DDD6) | (1 << DDD7)
        out DDRD, r16
        ldi r16, 1 << ACME
        sts ADCSRB, r16
        ldi r16, 2
        sts ADMUX, r16
        sbi PORTD, PORTD6
        ldi r17, 20
1:      dec r17
        brne 1b
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
