; The buffer takes the data when the counter overflows.
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

start:  ldi r16, 1 << USIWM0
        out USICR, r16
        ldi r17, 15
        out USISR, r17
        ldi r17, 0x2d
        out USIDR, r17
        ldi r16, (1 << USIWM0) | (1 << USICLK)
        out USICR, r16
        nop
        out USIDR, r17
        in r18, USIBR
        andi r18, 0xfe
        cpi r18, 0x5a
        brne other
        .global same
same:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
