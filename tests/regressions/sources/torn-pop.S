; A torn SP is popped from: it counts as it stands.
#include "common.inc"
        vectors
start:  ldi r29, 0x07
        out SPH, r29            ; 0x07ff
        nop
        .global reached
reached:
        pop r16
        ldi r29, 0x08
        out SPH, r29
        ldi r28, 0xff
        out SPL, r28
end:    rjmp end
