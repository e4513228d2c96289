; EEMPE is cleared after four cycles, and EEPE then has no effect.
; device: attiny84
#include "tiny84.inc"
#include "tiny-eeprom-master-late.S"
