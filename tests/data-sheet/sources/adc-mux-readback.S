; The multiplexer register reads back as written during a conversion.
#include "common.inc"
        vectors
start:  ldi r16, 1 << REFS0
        sts ADMUX, r16
        ldi r16, (1 << ADEN) | (1 << ADSC) | (1 << ADPS0)
        sts ADCSRA, r16
        ldi r16, (1 << REFS0) | 3
        sts ADMUX, r16
        lds r17, ADMUX
        cp r16, r17
        brne other
        .global same
same:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
