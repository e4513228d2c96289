; The change of a pin that is enabled sets the flag of the pin changes.
; device: attiny84
#include "tiny84.inc"
#include "tiny-pin-change-flag.S"
