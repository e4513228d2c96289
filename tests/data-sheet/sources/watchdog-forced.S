; After a reset by the watchdog it cannot be switched off before WDRF is cleared.
#include "common.inc"
        vectors
start:  clr r1
        in r17, MCUSR
        sbrc r17, WDRF
        rjmp bitten
        ldi r16, 1 << WDE
        sts WDTCSR, r16
2:      rjmp 2b
bitten: ldi r16, (1 << WDCE) | (1 << WDE)
        sts WDTCSR, r16
        sts WDTCSR, r1
        lds r18, WDTCSR
        sbrs r18, WDE
        rjmp off
end:    rjmp end
        .global off
off:
        nop
        rjmp end
