; A frame across a page that is made by SPL first and SPH second, which is judged as two changes.
#include "common.inc"
        vectors
start:  ldi r28, 0x10
        ldi r29, 0x08
        out SPH, r29
        out SPL, r28
        sbiw r28, 0x20
        out SPL, r28
        out SPH, r29
        push r1
        pop r1
        .global reached
reached:
        nop
end:    rjmp end
