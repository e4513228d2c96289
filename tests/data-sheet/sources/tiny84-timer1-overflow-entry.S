; The entry into the handler clears the overflow flag.
; device: attiny84
#include "tiny84.inc"
#undef vector_13
#define vector_13 vector_8
#include "timer1-overflow-entry.S"
