; A load from data address 0x23, the first register.
#include <avr/io.h>

        lds r16, 0x0023
loop:   rjmp loop
