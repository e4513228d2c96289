; The entry into the handler clears the overflow flag.
; device: attiny13
#define vector_5 vector_3
#define TIMSK TIMSK0
#define TIFR TIFR0
#include "tiny-timer-overflow-entry.S"
