; With three wires and a clock from outside an edge of the clock sets the flag of start conditions.
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

start:  ldi r16, (1 << USIWM0) | (1 << USICS1)
        out USICR, r16
1:      sbis USISR, USISIF
        rjmp 1b
        .global edge
edge:
        nop
end:    rjmp end
