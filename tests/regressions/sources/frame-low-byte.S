; A frame of 100 bytes is made by writing SPL alone, as avr-gcc does with -mtiny-stack.
#include "common.inc"
        vectors
start:  rcall function
end:    rjmp end
function:
        push r28
        in r28, SPL
        subi r28, 100
        out SPL, r28
        .global reached
reached:
        nop
        subi r28, -100
        out SPL, r28
        pop r28
        ret
