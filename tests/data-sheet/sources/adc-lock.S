; Reading ADCL holds the result until ADCH is read, and then a free running converter brings new ones.
#include "common.inc"
        vectors
start:  ldi r16, 1 << REFS0
        sts ADMUX, r16
        ldi r16, (1 << ADEN) | (1 << ADSC) | (1 << ADATE) | (1 << ADPS0)
        sts ADCSRA, r16
1:      lds r17, ADCSRA
        sbrs r17, ADIF
        rjmp 1b
        lds r18, ADCL
        ldi r22, 50
2:      dec r22
        brne 2b
        lds r19, ADCL
        lds r20, ADCH
        ldi r22, 50
3:      dec r22
        brne 3b
        lds r21, ADCL
        lds r20, ADCH
        cp r18, r19
        brne differ
        cp r18, r21
        breq end
        .global updated
updated:
        nop
end:    rjmp end
        .global differ
differ:
        nop
        rjmp end
