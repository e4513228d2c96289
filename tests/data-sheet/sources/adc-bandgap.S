; What the converter makes of its reference channel is not the choice of the environment.
#include "common.inc"
        vectors
start:  ldi r16, (1 << REFS0) | 0x0e | (1 << ADLAR)
        sts ADMUX, r16
        ldi r16, (1 << ADEN) | (1 << ADSC) | (1 << ADPS0)
        sts ADCSRA, r16
1:      lds r17, ADCSRA
        sbrc r17, ADSC
        rjmp 1b
        lds r18, ADCH
        cpi r18, 0x01
        brsh end
        .global low
low:
        nop
end:    rjmp end
