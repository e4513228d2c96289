; After its timed sequence the watchdog is not switched off.
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
        sts WDTCSR, r1
end:    rjmp end
