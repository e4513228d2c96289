; A low level at SS, an input, turns the master into a slave.
; device: atmega32u4
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef DDB3
#define DDB3 2
#undef DDB5
#define DDB5 1
#include "spi-select-input.S"
