; After the converter is switched off the result stays as it is.
#include "common.inc"
        vectors
start:  ldi r16, (1 << REFS0)
        sts ADMUX, r16
        ldi r16, (1 << ADEN) | (1 << ADSC) | (1 << ADPS0)
        sts ADCSRA, r16
1:      lds r17, ADCSRA
        sbrc r17, ADSC
        rjmp 1b
        ldi r16, 1 << ADPS0
        sts ADCSRA, r16
        lds r18, ADCL
        lds r19, ADCH
        ldi r22, 50
2:      dec r22
        brne 2b
        lds r20, ADCL
        lds r21, ADCH
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
