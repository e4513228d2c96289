; The bits that force a compare match read 0 and set no flag.
#include "common.inc"
        vectors
start:  ldi r16, (1 << FOC2A) | (1 << FOC2B)
        sts TCCR2B, r16
        lds r18, TCCR2B
        cpi r18, 0
        brne one
        in r18, TIFR2
        cpi r18, 0
        brne flag
        .global none
none:
        nop
end:    rjmp end
        .global one
one:
        nop
        rjmp end
        .global flag
flag:
        nop
        rjmp end
