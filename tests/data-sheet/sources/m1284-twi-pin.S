; The two-wire bus has the pins of the interface while it is on.
; device: atmega1284p
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef PINC4
#define PINC4 PINC1
#include "twi-pin.S"
