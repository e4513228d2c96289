; The change of a pin of port B that is enabled sets the flag of its group.
; device: atmega32u4
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef DDRD
#define DDRD DDRB
#include "pin-change-flag.S"
