; Without WDCE the watchdog stays on.
; device: attiny84
#include "tiny84.inc"
#include "tiny-watchdog-locked.S"
