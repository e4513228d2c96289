; A high byte that is written alone does not reach the counter.
; device: attiny84
#include "tiny84.inc"
#include "timer1-high-alone.S"
