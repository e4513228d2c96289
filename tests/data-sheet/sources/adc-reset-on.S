; Without a conversion the result is zero while the converter is on.
#include "common.inc"
        vectors
start:  ldi r16, 1 << REFS0
        sts ADMUX, r16
        ldi r16, (1 << ADEN) | (1 << ADPS0)
        sts ADCSRA, r16
        lds r18, ADCL
        lds r19, ADCH
        or r18, r19
        brne nonzero
        .global zero
zero:
        nop
end:    rjmp end
        .global nonzero
nonzero:
        nop
        rjmp end
