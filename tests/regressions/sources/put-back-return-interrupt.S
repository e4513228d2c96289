; The same where an interrupt may come while the return address is not on the stack.
#include "common.inc"
        vectors
start:  ldi r16, 3
        sts EICRA, r16
        sbi EIMSK, INT0
        sei
loop:   rcall function
        .global reached
reached:
        rjmp loop
function:
        pop r25
        pop r24
        nop
        push r24
        push r25
        ret
        .global vector_1
vector_1:
        push r24
        pop r24
        reti
