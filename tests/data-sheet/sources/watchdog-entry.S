; In the interrupt and reset mode the entry into the handler clears WDIE and WDIF.
#include "common.inc"
        vectors
        .global vector_6
vector_6:
        lds r17, WDTCSR
        sbrc r17, WDIE
        rjmp still
        sbrc r17, WDIF
        rjmp still
        .global entered
entered:
        nop
        rjmp end
start:  clr r1
        out MCUSR, r1
        ldi r16, (1 << WDE) | (1 << WDIE)
        sts WDTCSR, r16
        sei
end:    rjmp end
        .global still
still:
        nop
        rjmp end
