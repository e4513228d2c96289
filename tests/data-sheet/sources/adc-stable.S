; Between conversions the result stays as it is, and it is what the environment supplied.
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
        lds r20, ADCL
        lds r21, ADCH
        cp r18, r20
        brne differ
        cp r19, r21
        brne differ
        cpi r18, 0x5a
        brne end
        .global chosen
chosen:
        nop
end:    rjmp end
        .global differ
differ:
        nop
        rjmp end
