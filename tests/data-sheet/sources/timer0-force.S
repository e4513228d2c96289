; The bits that force a compare match read 0 and set no flag.
#include "common.inc"
        vectors
start:  ldi r16, (1 << FOC0A) | (1 << FOC0B)
        out TCCR0B, r16
        in r18, TCCR0B
        cpi r18, 0
        brne one
        in r18, TIFR0
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
