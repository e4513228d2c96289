; In the handler of a single conversion two reads agree.
#include "common.inc"
        vectors
        .global vector_21
vector_21:
        lds r18, ADCL
        lds r19, ADCH
        lds r20, ADCL
        lds r21, ADCH
        cp r18, r20
        brne differ
        cp r19, r21
        brne differ
        cpi r18, 0xa5
        brne 2f
        .global chosen
chosen:
        nop
2:      reti
start:  ldi r16, (1 << REFS0)
        sts ADMUX, r16
        ldi r16, (1 << ADEN) | (1 << ADSC) | (1 << ADIE) | (1 << ADPS0)
        sts ADCSRA, r16
        sei
end:    rjmp end
        .global differ
differ:
        nop
        rjmp end
