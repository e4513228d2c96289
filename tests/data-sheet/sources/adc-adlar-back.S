; A left adjusted result is right adjusted as soon as ADLAR is 0.
#include "common.inc"
        vectors
start:  ldi r16, (1 << REFS0) | (1 << ADLAR)
        sts ADMUX, r16
        ldi r16, (1 << ADEN) | (1 << ADSC) | (1 << ADPS0)
        sts ADCSRA, r16
1:      lds r17, ADCSRA
        sbrc r17, ADSC
        rjmp 1b
        lds r18, ADCL
        lds r19, ADCH
        ldi r16, 1 << REFS0
        sts ADMUX, r16
        lds r20, ADCL
        lds r21, ADCH
        ldi r22, 6
2:      lsr r19
        ror r18
        dec r22
        brne 2b
        cp r18, r20
        brne differ
        cp r19, r21
        brne differ
        .global same
same:
        nop
end:    rjmp end
        .global differ
differ:
        nop
        rjmp end
