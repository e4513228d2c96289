; A load into its own pointer register, without post-increment, is defined.
#include <avr/io.h>

        ldi r27, hi8(RAMSTART)
        ldi r26, lo8(RAMSTART)
        ld r26, X
loop:   rjmp loop
