; MISO of a master is an input whatever the direction register says.
; device: atmega1284p
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef PINB4
#define PINB4 PINB6
#include "spi-master-input.S"
