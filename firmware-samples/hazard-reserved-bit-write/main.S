; Bit 7 of port C, which does not exist, is set.
#include <avr/io.h>

        sbi _SFR_IO_ADDR(PORTC), 7
loop:   rjmp loop
