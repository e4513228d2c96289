; Without WDCE the watchdog stays on.
#include "common.inc"
        vectors
start:  clr r1
        out MCUSR, r1
        ldi r16, 1 << WDE
        sts WDTCSR, r16
        sts WDTCSR, r1
        lds r18, WDTCSR
        sbrs r18, WDE
        rjmp off
        .global on
on:
        nop
end:    rjmp end
        .global off
off:
        nop
        rjmp end
