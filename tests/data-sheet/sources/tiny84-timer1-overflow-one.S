; The overflow flag is cleared by writing a one to it.
; device: attiny84
#include "tiny84.inc"
#include "timer1-overflow-one.S"
