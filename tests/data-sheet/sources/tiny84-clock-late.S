; CLKPCE is cleared after four cycles.
; device: attiny84
#include "tiny84.inc"
#include "tiny-clock-late.S"
