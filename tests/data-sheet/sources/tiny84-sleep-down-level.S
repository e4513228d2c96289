; A low level wakes the processor from power-down.
; device: attiny84
#include "tiny84.inc"
#include "tiny-sleep-down-level.S"
