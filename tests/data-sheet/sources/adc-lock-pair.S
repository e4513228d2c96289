; A result that a free running converter replaces between the two reads does not mix with the old one.
#include "common.inc"
        vectors
start:  ldi r16, (1 << REFS0) | (1 << ADLAR)
        sts ADMUX, r16
        ldi r16, (1 << ADEN) | (1 << ADSC) | (1 << ADATE) | (1 << ADPS0)
        sts ADCSRA, r16
1:      lds r17, ADCSRA
        sbrs r17, ADIF
        rjmp 1b
        lds r18, ADCL
        lds r19, ADCL
        cp r18, r19
        brne differ
        ldi r22, 50
2:      dec r22
        brne 2b
        lds r19, ADCL
        cp r18, r19
        brne differ
        lds r20, ADCH
        .global read
read:
        nop
end:    rjmp end
        .global differ
differ:
        nop
        rjmp end
