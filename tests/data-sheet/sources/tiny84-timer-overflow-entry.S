; The entry into the handler clears the overflow flag.
; device: attiny84
#include "tiny84.inc"
#undef vector_5
#define vector_5 vector_11
#include "tiny-timer-overflow-entry.S"
