; A master whose SS is an output stays a master.
; device: atmega1284p
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef DDB2
#define DDB2 DDB4
#undef DDB3
#define DDB3 DDB7
#include "spi-select-output.S"
