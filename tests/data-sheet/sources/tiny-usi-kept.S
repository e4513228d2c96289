; Without a clock the counter and the data keep what is written to them.
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
        ldi r16, 5
        out USISR, r16
        ldi r17, 0x5a
        out USIDR, r17
        ldi r19, 50
1:      dec r19
        brne 1b
        in r18, USISR
        andi r18, 0x0f
        cpi r18, 5
        brne other
        in r18, USIDR
        cp r18, r17
        brne other
        .global same
same:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
