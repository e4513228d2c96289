; What is written to the EEPROM can be read from it, and the address cannot be changed during the write.
; device: attiny84
#include "tiny84.inc"
#include "tiny-eeprom-written.S"
