; A stop condition on the bus sets its flag, which a written zero leaves.
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
        ldi r16, (1 << USIWM1) | (1 << USICS1)
        out USICR, r16
1:      sbis USISR, USIPF
        rjmp 1b
        out USISR, r1
        sbis USISR, USIPF
        rjmp lost
        .global stopped
stopped:
        nop
end:    rjmp end
        .global lost
lost:
        nop
        rjmp end
