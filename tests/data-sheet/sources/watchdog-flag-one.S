; The flag of the watchdog is cleared by writing a one to it.
#include "common.inc"
        vectors
start:  clr r1
        out MCUSR, r1
        ldi r16, 1 << WDIE
        sts WDTCSR, r16
1:      lds r17, WDTCSR
        sbrs r17, WDIF
        rjmp 1b
        ldi r16, 1 << WDIF
        sts WDTCSR, r16
        lds r17, WDTCSR
        sbrc r17, WDIF
        rjmp still
        .global cleared
cleared:
        nop
end:    rjmp end
        .global still
still:
        nop
        rjmp end
