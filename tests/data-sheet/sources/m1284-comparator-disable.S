; An input of the comparator whose digital buffer is off reads 0, and the other one is the choice of the environment.
; device: atmega1284p
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef PIND
#define PIND PINB
#undef PIND6
#define PIND6 PINB2
#undef PIND7
#define PIND7 PINB3
#include "port-digital-disable-comparator.S"
