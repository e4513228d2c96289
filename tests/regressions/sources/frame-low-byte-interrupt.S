; A frame is made by writing SPL through memory, and an interrupt may come below it.
#include "common.inc"
        vectors
start:  ldi r16, 3
        sts EICRA, r16
        sbi EIMSK, INT0
        sei
loop:   lds r28, SPL + 0x20
        subi r28, 60
        sts SPL + 0x20, r28
        .global reached
reached:
        nop
        nop
        subi r28, -60
        sts SPL + 0x20, r28
        rjmp loop
        .global vector_1
vector_1:
        reti
