; Reading a compare register does not use the temporary byte.
; device: attiny84
#include "tiny84.inc"
#include "timer1-compare-read.S"
