; A load from the last byte of SRAM.
#include <avr/io.h>

        lds r16, RAMEND
loop:   rjmp loop
