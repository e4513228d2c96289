; The second push goes to 0x00ff, below the SRAM.
#include <avr/io.h>

        ldi r16, hi8(RAMSTART)
        out _SFR_IO_ADDR(SPH), r16
        ldi r16, lo8(RAMSTART)
        out _SFR_IO_ADDR(SPL), r16
        push r16
        .global fault
fault:  push r16
loop:   rjmp loop
