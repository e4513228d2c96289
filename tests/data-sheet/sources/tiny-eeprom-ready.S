; The interrupt comes again and again as long as no write is under way.
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
        .global vector_6
vector_6:
        in r15, SREG
        inc r20
        out SREG, r15
        reti
start:  clr r20
1:      sbic EECR, EEPE
        rjmp 1b
        sbi EECR, EERIE
        sei
        nop
        nop
        nop
        mov r21, r20
        cpi r21, 2
        brlo few
        .global many
many:
        nop
end:    rjmp end
        .global few
few:
        nop
        rjmp end
