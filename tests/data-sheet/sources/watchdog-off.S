; In its timed sequence the watchdog is switched off.
#include "common.inc"
        vectors
start:  clr r1
        out MCUSR, r1
        ldi r16, 1 << WDE
        sts WDTCSR, r16
        ldi r16, (1 << WDCE) | (1 << WDE)
        sts WDTCSR, r16
        sts WDTCSR, r1
        lds r18, WDTCSR
        sbrc r18, WDE
        rjmp on
        .global off
off:
        nop
end:    rjmp end
        .global on
on:
        nop
        rjmp end
