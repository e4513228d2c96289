; The change of a pin of port D that is enabled sets the flag of its group.
; device: atmega1284p
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef PCINT0
#define PCINT0 PCINT24
#undef PCMSK0
#define PCMSK0 PCMSK3
#undef PCIF0
#define PCIF0 PCIF3
#include "pin-change-flag.S"
