; For a level interrupt the flag stays 0.
; device: attiny84
#include "tiny84.inc"
#include "tiny-int0-level-flag.S"
