; A conversion that is complete before the converter is switched off has set its flag.
#include "common.inc"
        vectors
start:  clr r1
        ldi r16, (1 << ADEN) | (1 << ADSC)
        sts ADCSRA, r16
        ldi r18, 20
1:      ldi r19, 100
2:      nop
        dec r19
        brne 2b
        dec r18
        brne 1b
        sts ADCSRA, r1
        lds r18, ADCSRA
        sbrs r18, ADIF
        rjmp end
        .global complete
complete:
        nop
end:    rjmp end
