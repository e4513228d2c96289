; Port B is copied to the directions of port C, its bit 7 included.
#include <avr/io.h>

loop:   in r16, _SFR_IO_ADDR(PINB)
        out _SFR_IO_ADDR(DDRC), r16
        rjmp loop
