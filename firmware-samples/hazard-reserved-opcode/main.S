; An opcode that no AVR implements is executed.
#include <avr/io.h>

        .word 0x0001
loop:   rjmp loop
