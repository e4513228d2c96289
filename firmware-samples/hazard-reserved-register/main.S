; A load from data address 0x20, where there is no register.
#include <avr/io.h>

        lds r16, 0x0020
loop:   rjmp loop
