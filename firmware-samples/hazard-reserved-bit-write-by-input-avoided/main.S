; Port B is copied to the directions of port C without bit 7.
#include <avr/io.h>

loop:   in r16, _SFR_IO_ADDR(PINB)
        andi r16, 0x7f
        out _SFR_IO_ADDR(DDRC), r16
        rjmp loop
