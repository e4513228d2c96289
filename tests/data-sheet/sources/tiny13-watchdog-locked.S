; Without WDCE the watchdog stays on.
; device: attiny13
#include "tiny-watchdog-locked.S"
