; An input of port F whose digital buffer is off reads 0.
; device: atmega2560
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef PINC
#define PINC PINF
#undef PINC2
#define PINC2 PINF2
#include "port-digital-disable.S"
