; MISO of a master is an input whatever the direction register says.
; device: atmega32u4
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef PINB4
#define PINB4 PINB3
#include "spi-master-input.S"
