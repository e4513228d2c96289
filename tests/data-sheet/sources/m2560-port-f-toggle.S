; Ones written to PINF toggle bits of PORTF.
; device: atmega2560
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef PINC
#define PINC PINF
#undef PORTC
#define PORTC PORTF
#include "port-toggle-c.S"
