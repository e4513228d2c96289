; The two-wire bus has the pins of the interface while it is on.
; device: atmega32u4
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef PINC
#define PINC PIND
#undef PINC4
#define PINC4 PIND1
#include "twi-pin.S"
