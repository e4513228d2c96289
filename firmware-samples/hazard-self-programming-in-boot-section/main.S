; SPM in the boot section, which begins at 0x7000 with the factory fuses.
#include <avr/io.h>

        jmp boot
        .section .boot, "ax"
boot:   ldi r16, 1 << SPMEN
        ldi r31, 0x10
        ldi r30, 0x00
        out _SFR_IO_ADDR(SPMCSR), r16
        spm
loop:   rjmp loop
