; The flag stays when a zero is written to it, and is 0 while the watchdog is off.
; device: attiny84
#include "tiny84.inc"
#include "tiny-watchdog-flag-zero.S"
