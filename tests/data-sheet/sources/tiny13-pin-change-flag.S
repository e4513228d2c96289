; The change of a pin that is enabled sets the flag of the pin changes.
; device: attiny13
#include "tiny-pin-change-flag.S"
