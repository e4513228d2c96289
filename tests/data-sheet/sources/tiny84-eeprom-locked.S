; Neither the mode nor the upper bit of the address can be changed while a write is under way.
; device: attiny84
#include "tiny84.inc"
#include "tiny-eeprom-locked.S"
