; A conversion goes on to its end although ADSC is written 0.
#include "common.inc"
        vectors
start:  ldi r16, (1 << ADEN) | (1 << ADSC) | (1 << ADPS0)
        ldi r18, (1 << ADEN) | (1 << ADPS0)
        sts ADCSRA, r16
        sts ADCSRA, r18
1:      lds r17, ADCSRA
        sbrc r17, ADSC
        rjmp 1b
        sbrs r17, ADIF
        rjmp no_flag
        .global ended
ended:
        nop
end:    rjmp end
        .global no_flag
no_flag:
        nop
        rjmp end
