; The overflow flag is cleared only by writing a one to it.
; device: attiny84
#include "tiny84.inc"
#include "tiny-usi-flag-one.S"
