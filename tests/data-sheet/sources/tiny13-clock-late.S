; CLKPCE is cleared after four cycles.
; device: attiny13
#include "tiny-clock-late.S"
