; A frame as large as an input says, which fits or does not.
#include "common.inc"
        vectors
start:  in r17, PINB
        andi r17, 0xf0
        in r28, SPL
        in r29, SPH
        sub r28, r17
        sbci r29, 0
        out SPH, r29
        out SPL, r28
        .global reached
reached:
        add r28, r17
        ldi r16, 0
        adc r29, r16
        out SPH, r29
        out SPL, r28
        rjmp start
        .section .bss
        .global table
table:  .skip 1860
