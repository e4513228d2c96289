; A conversion that was started ends. In free running the next one begins by itself.
#include "common.inc"
        vectors
start:  ldi r16, (1 << ADEN) | (1 << ADSC)
        sts ADCSRA, r16
1:      lds r17, ADCSRA
        sbrc r17, ADSC
        rjmp 1b
        .global done
done:   ldi r16, (1 << ADEN) | (1 << ADSC) | (1 << ADATE)
        sts ADCSRA, r16
2:      lds r17, ADCSRA
        sbrc r17, ADSC
        rjmp 2b
        .global stopped
stopped:
        nop
end:    rjmp end
