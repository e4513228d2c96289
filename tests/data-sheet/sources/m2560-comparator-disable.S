; An input of the comparator whose digital buffer is off reads 0, and the other one is the choice of the environment.
; device: atmega2560
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef PIND
#define PIND PINE
#undef PIND6
#define PIND6 PINE2
#undef PIND7
#define PIND7 PINE3
#include "port-digital-disable-comparator.S"
