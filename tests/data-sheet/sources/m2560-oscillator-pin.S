; The oscillator of timer 2 has the pin.
; device: atmega2560
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef PINB
#define PINB PING
#undef PINB7
#define PINB7 PING4
#include "port-oscillator-pin.S"
