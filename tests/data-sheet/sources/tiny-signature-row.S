; The signature row and then the flash.
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
start:  ldi r30, 2
        clr r31
        ldi r16, (1 << RSIG) | (1 << SPMEN)
        out SPMCSR, r16
        lpm r17, Z
        cpi r17, 0x93
        brne wrong_signature
        ldi r30, lo8(byte)
        ldi r31, hi8(byte)
        lpm r18, Z
        cpi r18, 0x5a
        brne wrong_flash
        .global right
right:
        nop
end:    rjmp end
        .global wrong_signature
wrong_signature:
        nop
        rjmp end
        .global wrong_flash
wrong_flash:
        nop
        rjmp end
byte:   .byte 0x5a, 0
