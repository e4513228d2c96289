; Without WDCE the prescaler stays as it is.
; device: attiny13
#include "tiny-watchdog-prescaler-locked.S"
