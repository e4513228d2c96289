; A load from the byte after the last byte of SRAM.
#include <avr/io.h>

        lds r16, RAMEND + 1
loop:   rjmp loop
