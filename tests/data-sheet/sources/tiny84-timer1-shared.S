; A high byte that was written for one compare register goes to another one with the low byte.
; device: attiny84
#include "tiny84.inc"
#include "timer1-shared.S"
