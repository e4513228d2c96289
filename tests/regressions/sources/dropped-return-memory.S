; The same by STS to SPL, past two return addresses at once.
#include "common.inc"
        vectors
start:  rcall outer
        .global reached
reached:
        rjmp reached
outer:  rcall middle
        rjmp start
middle: rcall inner
        rjmp start
inner:  push r28
        lds r28, SPL + 0x20
        subi r28, -5
        sts SPL + 0x20, r28
        ret
