; A forced compare match reads 0 and raises no flag.
; device: attiny84
#include "tiny84.inc"
#include "tiny-timer0-force.S"
