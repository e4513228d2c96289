; ADIF is cleared by writing a one to it.
#include "common.inc"
        vectors
start:  ldi r16, (1 << REFS0)
        sts ADMUX, r16
        ldi r16, (1 << ADEN) | (1 << ADSC) | (1 << ADPS0)
        sts ADCSRA, r16
1:      lds r17, ADCSRA
        sbrc r17, ADSC
        rjmp 1b
        ldi r16, (1 << ADEN) | (1 << ADIF) | (1 << ADPS0)
        sts ADCSRA, r16
        lds r18, ADCSRA
        sbrc r18, ADIF
        rjmp still
        lds r18, ADCSRA
        sbrc r18, ADIF
        rjmp again
        .global cleared
cleared:
        nop
end:    rjmp end
        .global still
still:
        nop
        rjmp end
        .global again
again:
        nop
        rjmp end
