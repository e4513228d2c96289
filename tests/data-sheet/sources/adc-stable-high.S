; With the result left adjusted, two reads of its high byte agree.
#include "common.inc"
        vectors
start:  ldi r16, (1 << REFS0) | (1 << ADLAR)
        sts ADMUX, r16
        ldi r16, (1 << ADEN) | (1 << ADSC) | (1 << ADPS0)
        sts ADCSRA, r16
1:      lds r17, ADCSRA
        sbrc r17, ADSC
        rjmp 1b
        lds r18, ADCH
        lds r19, ADCH
        cp r18, r19
        brne differ
        cpi r18, 0xc3
        brne end
        .global chosen
chosen:
        nop
end:    rjmp end
        .global differ
differ:
        nop
        rjmp end
