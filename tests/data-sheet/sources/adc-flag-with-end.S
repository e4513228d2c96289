; ADIF is set at the moment at which ADSC returns to zero.
#include "common.inc"
        vectors
start:  ldi r16, (1 << ADEN) | (1 << ADSC) | (1 << ADPS0)
        sts ADCSRA, r16
1:      lds r17, ADCSRA
        sbrc r17, ADSC
        rjmp busy
        sbrs r17, ADIF
        rjmp no_flag
        .global ended
ended:
        nop
        rjmp end
busy:   sbrs r17, ADIF
        rjmp 1b
        rjmp too_early
end:    rjmp end
        .global no_flag
no_flag:
        nop
        rjmp end
        .global too_early
too_early:
        nop
        rjmp end
