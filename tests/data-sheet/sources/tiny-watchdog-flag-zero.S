; The flag stays when a zero is written to it, and is 0 while the watchdog is off.
; device: attiny85
#define __SFR_OFFSET 0
#include <avr/io.h>
        .macro vector name
        .weak \name
        rjmp \name
        .endm
        rjmp start
        .irp number, 1,2,3,4,5,6,7,8,9,10,11,12,13,14
        vector vector_\number
        .endr
start:  in r17, MCUSR
        sbrc r17, WDRF
        rjmp end
        in r18, WDTCR
        cpi r18, 0
        brne other
        ldi r16, 1 << WDIE
        out WDTCR, r16
1:      in r18, WDTCR
        sbrs r18, WDIF
        rjmp 1b
        out WDTCR, r16
        in r18, WDTCR
        sbrs r18, WDIF
        rjmp lost
        .global kept
kept:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
        .global lost
lost:
        nop
        rjmp end
