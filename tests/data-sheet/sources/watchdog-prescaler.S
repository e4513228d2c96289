; In its timed sequence the prescaler is changed.
#include "common.inc"
        vectors
start:  clr r1
        out MCUSR, r1
        ldi r16, 1 << WDE
        sts WDTCSR, r16
        ldi r16, (1 << WDCE) | (1 << WDE)
        ldi r17, (1 << WDE) | (1 << WDP3) | (1 << WDP0)
        sts WDTCSR, r16
        sts WDTCSR, r17
        lds r18, WDTCSR
        cp r18, r17
        brne other
        .global changed
changed:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
