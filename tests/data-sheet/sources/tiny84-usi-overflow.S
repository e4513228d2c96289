; The counter overflows from 15 to 0, which sets a flag.
; device: attiny84
#include "tiny84.inc"
#include "tiny-usi-overflow.S"
