; The clock strobe counts by one and shifts the data by one bit, and the new bit is the choice of the environment.
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
        ldi r17, 5
        out USISR, r17
        ldi r17, 0x5a
        out USIDR, r17
        ldi r16, (1 << USIWM0) | (1 << USICLK)
        out USICR, r16
        nop
        in r18, USISR
        andi r18, 0x0f
        cpi r18, 6
        brne other
        in r18, USIDR
        mov r19, r18
        andi r19, 0xfe
        cpi r19, 0xb4
        brne other
        sbrc r18, 0
        rjmp one
        .global zero
zero:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
        .global one
one:
        nop
        rjmp end
