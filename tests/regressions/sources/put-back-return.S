; A function pops its return address, looks at it, and pushes it again.
#include "common.inc"
        vectors
start:  rcall function
        .global reached
reached:
        rjmp start
function:
        pop r25
        pop r24
        movw r30, r24
        push r24
        push r25
        ret
