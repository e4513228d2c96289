; LPM is allowed everywhere.
#include <avr/io.h>

        ldi r31, 0
        ldi r30, 0
        lpm
loop:   rjmp loop
