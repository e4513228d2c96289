; The flash is read where the signature row was to be, but more than four cycles later.
#include "common.inc"
        vectors
start:  ldi r30, lo8(byte)
        ldi r31, hi8(byte)
        ldi r16, (1 << SIGRD) | (1 << SPMEN)
        out SPMCSR, r16
        nop
        nop
        nop
        nop
        in r19, SPMCSR
        lpm r18, Z
        cpi r18, 0x5a
        brne wrong
        sbrc r19, SPMEN
        rjmp armed
        sbrc r19, SIGRD
        rjmp armed
        .global right
right:
        nop
end:    rjmp end
        .global wrong
wrong:
        nop
        rjmp end
        .global armed
armed:
        nop
        rjmp end
byte:   .byte 0x5a, 0
