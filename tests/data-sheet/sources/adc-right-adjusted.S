; The result has ten bits, which are right adjusted.
#include "common.inc"
        vectors
start:  ldi r16, (1 << REFS0)
        sts ADMUX, r16
        ldi r16, (1 << ADEN) | (1 << ADSC) | (1 << ADPS0)
        sts ADCSRA, r16
1:      lds r17, ADCSRA
        sbrc r17, ADSC
        rjmp 1b
        lds r18, ADCL
        lds r19, ADCH
        cpi r19, 4
        brsh above
        cpi r19, 3
        brne end
        .global three
three:
        nop
end:    rjmp end
        .global above
above:
        nop
        rjmp end
