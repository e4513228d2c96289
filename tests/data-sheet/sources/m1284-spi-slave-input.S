; MOSI of a slave is an input whatever the direction register says.
; device: atmega1284p
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef PINB3
#define PINB3 PINB5
#include "spi-slave-input.S"
