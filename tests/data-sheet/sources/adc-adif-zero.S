; ADIF is not cleared by writing a zero to it.
#include "common.inc"
        vectors
start:  ldi r16, (1 << REFS0)
        sts ADMUX, r16
        ldi r16, (1 << ADEN) | (1 << ADSC) | (1 << ADPS0)
        sts ADCSRA, r16
1:      lds r17, ADCSRA
        sbrc r17, ADSC
        rjmp 1b
        ldi r16, (1 << ADEN) | (1 << ADPS0)
        sts ADCSRA, r16
        lds r18, ADCSRA
        sbrs r18, ADIF
        rjmp lost
        .global kept
kept:
        nop
end:    rjmp end
        .global lost
lost:
        nop
        rjmp end
