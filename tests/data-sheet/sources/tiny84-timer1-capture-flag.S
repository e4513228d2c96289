; The capture flag is not cleared by writing a zero to it, and neither by clearing another flag.
; device: attiny84
#include "tiny84.inc"
#include "timer1-capture-flag.S"
