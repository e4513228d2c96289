; WDCE is 0 after four cycles.
#include "common.inc"
        vectors
start:  clr r1
        out MCUSR, r1
        ldi r16, 1 << WDE
        sts WDTCSR, r16
        ldi r16, (1 << WDCE) | (1 << WDE)
        sts WDTCSR, r16
        nop
        nop
        nop
        nop
        nop
        lds r18, WDTCSR
        sbrc r18, WDCE
        rjmp still
        .global cleared
cleared:
        nop
end:    rjmp end
        .global still
still:
        nop
        rjmp end
