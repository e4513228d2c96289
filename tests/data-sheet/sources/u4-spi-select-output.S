; A master whose SS is an output stays a master.
; device: atmega32u4
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef DDB2
#define DDB2 0
#undef DDB3
#define DDB3 2
#undef DDB5
#define DDB5 1
#include "spi-select-output.S"
