; The high byte of a running timer stays as it was when the low byte was read.
; device: attiny84
#include "tiny84.inc"
#include "timer1-latched.S"
