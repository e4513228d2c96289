; After a power-on the watchdog is off, and its flag stays 0.
#include "common.inc"
        vectors
start:  in r17, MCUSR
        sbrc r17, WDRF
        rjmp end
        lds r18, WDTCSR
        cpi r18, 0
        brne other
        ldi r19, 100
1:      lds r18, WDTCSR
        sbrc r18, WDIF
        rjmp flag
        dec r19
        brne 1b
        .global none
none:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
        .global flag
flag:
        nop
        rjmp end
