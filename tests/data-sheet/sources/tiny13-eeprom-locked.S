; The mode cannot be changed while a write is under way.
; device: attiny13
#define __SFR_OFFSET 0
#include <avr/io.h>
        .macro vector name
        .weak \name
        rjmp \name
        .endm
        rjmp start
        .irp number, 1,2,3,4,5,6,7,8,9
        vector vector_\number
        .endr
start:  clr r1
1:      sbic EECR, EEPE
        rjmp 1b
        ldi r16, 5
        out EEARL, r16
        out EECR, r1
        sbi EECR, EEMPE
        sbi EECR, EEPE
        ldi r17, 1 << EEPM1
        out EECR, r17
        in r19, EECR
        sbis EECR, EEPE
        rjmp end
        andi r19, (1 << EEPM1) | (1 << EEPM0)
        brne changed
        .global kept
kept:
        nop
end:    rjmp end
        .global changed
changed:
        nop
        rjmp end
