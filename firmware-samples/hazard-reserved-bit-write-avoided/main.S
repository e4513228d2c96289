; Bit 6 of port C is set.
#include <avr/io.h>

        sbi _SFR_IO_ADDR(PORTC), 6
loop:   rjmp loop
