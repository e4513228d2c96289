; A low level at SS, an input, turns the master into a slave.
; device: atmega1284p
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef DDB3
#define DDB3 DDB7
#include "spi-select-input.S"
