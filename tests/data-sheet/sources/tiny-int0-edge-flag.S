; An edge is kept in the flag until a one is written to it.
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
        ldi r16, 1 << ISC01
        out MCUCR, r16
1:      in r18, GIFR
        sbrs r18, INTF0
        rjmp 1b
        out GIFR, r1
        ldi r16, 1 << PCIF
        out GIFR, r16
        in r18, GIFR
        sbrs r18, INTF0
        rjmp lost
        .global kept
kept:
        nop
end:    rjmp end
        .global lost
lost:
        nop
        rjmp end
