; A load with post-increment into its own pointer register.
#include <avr/io.h>

        ldi r27, hi8(RAMSTART)
        ldi r26, lo8(RAMSTART)
        .word 0x91ad ; ld r26, X+
loop:   rjmp loop
