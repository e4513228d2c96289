; EEMPE is cleared after four cycles, and EEPE then has no effect.
; device: attiny13
#define EEARH EEARL
#include "tiny-eeprom-master-late.S"
