; A handler that executes a reserved opcode, and a main program that runs into another hazard after it has let interrupts in.
#include "common.inc"
        vectors
        .global vector_1
vector_1:
        sbis PINB, 0
        .word 0xff08
        push r16
        ldi r16, 9
        out PORTB, r16
        pop r16
        reti
start:  ldi r16, 1
        out EIMSK, r16
        out PORTB, r16
        sei
loop:   sbic PORTB, 3
        rjmp bad
        rjmp loop
bad:    jmp 0x2000
