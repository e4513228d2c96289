; The bits that force a compare match read 0 and set no flag.
#include "common.inc"
        vectors
start:  ldi r16, (1 << FOC1A) | (1 << FOC1B)
        sts TCCR1C, r16
        lds r18, TCCR1C
        cpi r18, 0
        brne one
        in r18, TIFR1
        andi r18, (1 << OCF1B) | (1 << OCF1A)
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
