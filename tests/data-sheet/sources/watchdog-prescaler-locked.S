; Without WDCE the prescaler stays as it is.
#include "common.inc"
        vectors
start:  ldi r16, (1 << WDP3) | (1 << WDP0)
        sts WDTCSR, r16
        lds r18, WDTCSR
        andi r18, (1 << WDP3) | (1 << WDP2) | (1 << WDP1) | (1 << WDP0)
        brne changed
        .global kept
kept:
        nop
end:    rjmp end
        .global changed
changed:
        nop
        rjmp end
