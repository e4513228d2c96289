; An input of port A whose digital buffer is off reads 0.
; device: atmega1284p
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef PINC
#define PINC PINA
#undef PINC2
#define PINC2 PINA2
#include "port-digital-disable.S"
