; The oscillator of timer 2 has the pin.
; device: atmega1284p
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef PINB
#define PINB PINC
#undef PINB7
#define PINB7 PINC7
#include "port-oscillator-pin.S"
