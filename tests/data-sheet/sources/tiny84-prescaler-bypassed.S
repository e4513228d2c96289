; The sheet does not say whether a timer that no prescaler clocks stands still with the others.
; device: attiny84
#include "tiny84.inc"
#include "prescaler-bypassed.S"
