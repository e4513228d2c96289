; The entry into the handler does not clear the overflow flag.
; device: attiny84
#define __SFR_OFFSET 0
#include <avr/io.h>
        .macro vector name
        .weak \name
        rjmp \name
        .endm
        rjmp start
        .irp number, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16
        vector vector_\number
        .endr
        .global vector_16
vector_16:
        sbis USISR, USIOIF
        rjmp cleared
        .global entered
entered:
        nop
        rjmp end
start:  ldi r16, 1 << USIWM0
        out USICR, r16
        ldi r17, 15
        out USISR, r17
        ldi r16, (1 << USIOIE) | (1 << USIWM0) | (1 << USICLK)
        out USICR, r16
        sei
end:    rjmp end
        .global cleared
cleared:
        nop
        rjmp end
