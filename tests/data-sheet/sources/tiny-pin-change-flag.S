; The change of a pin that is enabled sets the flag of the pin changes.
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
start:  ldi r16, 1 << PCINT4
        out PCMSK, r16
1:      in r18, GIFR
        sbrs r18, PCIF
        rjmp 1b
        .global changed
changed:
        nop
end:    rjmp end
