; With both pins driven by the processor the output of the comparator is not the choice of the environment.
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
start:  ldi r16, (1 << DDB0) | (1 << DDB1)
        out DDRB, r16
        sbi PORTB, PORTB1
        ldi r17, 20
1:      dec r17
        brne 1b
        sbis ACSR, ACO
        rjmp end
        .global above
above:
        nop
end:    rjmp end
