; The interrupt comes again and again as long as no write is under way.
; device: attiny13
#define vector_6 vector_4
#include "tiny-eeprom-ready.S"
