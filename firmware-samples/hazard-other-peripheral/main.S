; Timer 0 is started, which the restricted device does not have.
#include <avr/io.h>

        ldi r16, 1
        out _SFR_IO_ADDR(TCCR0B), r16
loop:   rjmp loop
