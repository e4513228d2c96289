; The same with a frame that is made by writing SPL alone.
#include "common.inc"
        vectors
start:  rcall function
        rjmp start
function:
        in r28, SPL
        subi r28, 200
        out SPL, r28
        .global reached
reached:
        nop
        subi r28, -200
        out SPL, r28
        ret
        .section .bss
        .global table
table:  .skip 1900
