; Ones written to PINA toggle bits of PORTA.
; device: atmega1284p
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef PINC
#define PINC PINA
#undef PORTC
#define PORTC PORTA
#include "port-toggle-c.S"
