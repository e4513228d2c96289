; A function drops its return address by raising SPL alone, and returns to its caller's caller.
#include "common.inc"
        vectors
start:  rcall outer
        .global reached
reached:
        rjmp reached
outer:  rcall inner
        rjmp start
inner:  in r28, SPL
        subi r28, -2
        out SPL, r28
        ret
