; One push to the first byte of SRAM: the stack pointer leaves the SRAM, but no access does.
#include <avr/io.h>

        ldi r16, hi8(RAMSTART)
        out _SFR_IO_ADDR(SPH), r16
        ldi r16, lo8(RAMSTART)
        out _SFR_IO_ADDR(SPL), r16
        push r16
        pop r16
loop:   rjmp loop
