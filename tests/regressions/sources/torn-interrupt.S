; SP is torn while interrupts are possible: what the handler pushes goes to where the torn pointer leads.
#include "common.inc"
        vectors
start:  ldi r16, 3
        sts EICRA, r16
        sbi EIMSK, INT0
        ldi r28, 0x10
        ldi r29, 0x08
        out SPH, r29
        out SPL, r28            ; 0x0810
        sei
        nop
loop:   ldi r29, 0x07
        ldi r28, 0xf0
        out SPH, r29            ; 0x0710 until SPL is written, which is deeper than 0x07f0
        .global reached
reached:
        nop
        nop
        out SPL, r28
        ldi r29, 0x08
        ldi r28, 0x10
        out SPH, r29
        out SPL, r28
        rjmp loop
        .global vector_1
vector_1:
        reti
