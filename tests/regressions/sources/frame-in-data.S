; A local array lies in static data although nothing is pushed there.
#include "common.inc"
        vectors
start:  rcall function
        rjmp start
function:
        in r28, SPL
        in r29, SPH
        subi r28, lo8(300)
        sbci r29, hi8(300)
        out SPH, r29
        out SPL, r28
        .global reached
reached:
        nop
        subi r28, lo8(-300)
        sbci r29, hi8(-300)
        out SPH, r29
        out SPL, r28
        ret
        .section .bss
        .global table
table:  .skip 1900
