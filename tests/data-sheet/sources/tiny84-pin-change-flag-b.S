; The change of a pin that is enabled sets the flag of the pin changes.
; device: attiny84
#include "tiny84.inc"
#undef PCMSK
#define PCMSK PCMSK1
#undef PCIF
#define PCIF PCIF1
#undef PCINT4
#define PCINT4 PCINT9
#include "tiny-pin-change-flag.S"
