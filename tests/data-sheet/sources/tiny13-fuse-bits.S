; With RFLB the next load in time is of a fuse byte, and the one behind it of the flash.
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
start:  ldi r30, lo8(byte)
        ldi r31, hi8(byte)
        ldi r16, (1 << RFLB) | (1 << SELFPRGEN)
        out SPMCSR, r16
        lpm r17, Z
        lpm r18, Z
        cpi r18, 0x5a
        brne wrong_flash
        .global right
right:
        nop
end:    rjmp end
        .global wrong_flash
wrong_flash:
        nop
        rjmp end
byte:   .byte 0x5a, 0
