; MOSI of a slave is an input whatever the direction register says.
; device: atmega32u4
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef PINB3
#define PINB3 PINB2
#include "spi-slave-input.S"
