; A function saves and restores a register and returns.
#include <avr/io.h>

        rcall function
loop:   rjmp loop

function:
        push r16
        in r16, _SFR_IO_ADDR(PINB)
        out _SFR_IO_ADDR(PORTD), r16
        pop r16
        ret
