; The interrupt comes again and again as long as no write is under way.
; device: attiny84
#include "tiny84.inc"
#undef vector_6
#define vector_6 vector_14
#include "tiny-eeprom-ready.S"
