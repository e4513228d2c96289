; Without WDCE the watchdog stays on.
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
start:  clr r1
        out MCUSR, r1
        ldi r16, 1 << WDE
        out WDTCR, r16
        out WDTCR, r1
        in r18, WDTCR
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
