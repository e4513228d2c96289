; Switching the converter off ends its conversion, and ADIF is not set any more.
#include "common.inc"
        vectors
start:  ldi r16, (1 << ADEN) | (1 << ADSC) | (1 << ADPS2) | (1 << ADPS1) | (1 << ADPS0)
        sts ADCSRA, r16
        ldi r16, 1 << ADPS0
        sts ADCSRA, r16
        nop
        lds r17, ADCSRA
        sbrc r17, ADIF
        rjmp end
        ldi r18, 100
1:      lds r17, ADCSRA
        sbrc r17, ADIF
        rjmp late
        dec r18
        brne 1b
        .global terminated
terminated:
        nop
end:    rjmp end
        .global late
late:
        nop
        rjmp end
