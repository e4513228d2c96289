; A byte of the signature row, and the flash afterwards.
#include "common.inc"
        vectors
start:  ldi r30, 2
        clr r31
        ldi r16, (1 << SIGRD) | (1 << SPMEN)
        out SPMCSR, r16
        lpm r17, Z
        cpi r17, 0x95
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
