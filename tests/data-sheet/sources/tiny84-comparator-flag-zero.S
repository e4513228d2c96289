; The flag stays when a zero is written to it.
; device: attiny84
#include "tiny84.inc"
#include "tiny-comparator-flag-zero.S"
