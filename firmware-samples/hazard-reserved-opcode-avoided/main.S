; A reserved opcode that is always skipped.
#include <avr/io.h>

        ldi r16, 0
        sbrc r16, 0
        .word 0x0001
loop:   rjmp loop
