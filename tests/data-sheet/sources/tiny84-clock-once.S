; One change of the prescaler needs one CLKPCE.
; device: attiny84
#include "tiny84.inc"
#include "tiny-clock-once.S"
