; A function pops its return address and pushes another one: that is no return.
#include "common.inc"
        vectors
start:  rcall function
        rjmp start
        .global reached
reached:
        rjmp reached
function:
        pop r25
        pop r24
        ldi r24, lo8(gs(reached))
        ldi r25, hi8(gs(reached))
        push r24
        push r25
        ret
