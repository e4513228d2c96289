; The two-wire bus has the pins of the interface while it is on.
; device: atmega2560
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef PINC
#define PINC PIND
#undef PINC4
#define PINC4 PIND1
#include "twi-pin.S"
