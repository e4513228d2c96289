; Executes a reserved opcode if a register that nobody wrote is 0, before anything else.
#include "common.inc"
        vectors
start:  tst r16
        brne loop
        .word 0xff08
loop:   sbi PORTB, 0
        cbi PORTB, 0
        rjmp loop
