; What is written to the EEPROM can be read from it, and the address cannot be changed during the write.
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
1:      sbic EECR, EEPE
        rjmp 1b
        out EEARH, r1
        ldi r16, 5
        out EEARL, r16
        ldi r16, 0x5a
        out EEDR, r16
        out EECR, r1
        sbi EECR, EEMPE
        sbi EECR, EEPE
        ldi r17, 9
        out EEARL, r17
        in r18, EEARL
        sbis EECR, EEPE
        rjmp end
        cpi r18, 5
        brne changed
2:      sbic EECR, EEPE
        rjmp 2b
        out EEDR, r1
        sbi EECR, EERE
        in r18, EEDR
        cpi r18, 0x5a
        brne other
        .global same
same:
        nop
end:    rjmp end
        .global changed
changed:
        nop
        rjmp end
        .global other
other:
        nop
        rjmp end
