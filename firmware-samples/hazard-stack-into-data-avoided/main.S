; The stack ends just above a variable.
#include <avr/io.h>

        ldi r16, hi8(variable_end)
        out _SFR_IO_ADDR(SPH), r16
        ldi r16, lo8(variable_end)
        out _SFR_IO_ADDR(SPL), r16
        push r16
loop:   rjmp loop

        .section .bss
        .global variable
        .type variable, @object
        .size variable, 4
variable:
        .skip 4
variable_end:
