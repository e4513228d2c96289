; WDCE is cleared after four cycles.
; device: attiny13
#include "tiny-watchdog-change-bit.S"
