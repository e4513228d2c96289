; Without WDCE the prescaler stays as it is.
; device: attiny84
#include "tiny84.inc"
#include "tiny-watchdog-prescaler-locked.S"
