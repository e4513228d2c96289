; The pin belongs to JTAG as the part leaves the factory.
; device: atmega32u4
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef PINC
#define PINC PINF
#undef PINC3
#define PINC3 PINF5
#include "m1284-jtag-pin.S"
