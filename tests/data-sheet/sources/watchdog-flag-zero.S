; The flag of the watchdog is not cleared by writing a zero to it.
#include "common.inc"
        vectors
start:  clr r1
        out MCUSR, r1
        ldi r16, 1 << WDIE
        sts WDTCSR, r16
1:      lds r17, WDTCSR
        sbrs r17, WDIF
        rjmp 1b
        sts WDTCSR, r16
        lds r17, WDTCSR
        sbrs r17, WDIF
        rjmp lost
        .global kept
kept:
        nop
end:    rjmp end
        .global lost
lost:
        nop
        rjmp end
