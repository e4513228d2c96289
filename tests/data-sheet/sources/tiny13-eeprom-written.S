; What is written to the EEPROM can be read from it, and the address cannot be changed during the write.
; device: attiny13
#define EEARH EEARL
#include "tiny-eeprom-written.S"
