; The entry into the handler clears ADIF, and no further interrupt comes after a single conversion.
#include "common.inc"
        vectors
        .global vector_21
vector_21:
        lds r18, ADCSRA
        sbrc r18, ADIF
        rjmp still
        cpi r20, 1
        breq again
        ldi r20, 1
        .global entered
entered:
        nop
        reti
start:  clr r20
        ldi r16, (1 << ADEN) | (1 << ADSC) | (1 << ADIE) | (1 << ADPS0)
        sts ADCSRA, r16
        sei
end:    rjmp end
        .global still
still:
        nop
        rjmp end
        .global again
again:
        nop
        rjmp end
