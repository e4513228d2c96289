; The converter that is only switched on converts nothing.
#include "common.inc"
        vectors
start:  ldi r16, (1 << ADEN) | (1 << ADPS0)
        sts ADCSRA, r16
        ldi r18, 100
1:      lds r17, ADCSRA
        sbrc r17, ADSC
        rjmp converting
        sbrc r17, ADIF
        rjmp flag
        dec r18
        brne 1b
        .global none
none:
        nop
end:    rjmp end
        .global converting
converting:
        nop
        rjmp end
        .global flag
flag:
        nop
        rjmp end
