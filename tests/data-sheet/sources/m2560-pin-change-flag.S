; The change of a pin of port J that is enabled sets the flag of its group.
; device: atmega2560
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef PCINT0
#define PCINT0 PCINT9
#undef PCMSK0
#define PCMSK0 PCMSK1
#undef PCIF0
#define PCIF0 PCIF1
#include "pin-change-flag.S"
