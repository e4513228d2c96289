; Where no pin is enabled the flag of the pin changes stays 0.
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
start:  ldi r16, 1 << ISC01
        out MCUCR, r16
1:      in r18, GIFR
        sbrc r18, PCIF
        rjmp flag
        sbrs r18, INTF0
        rjmp 1b
        .global edge
edge:
        nop
end:    rjmp end
        .global flag
flag:
        nop
        rjmp end
