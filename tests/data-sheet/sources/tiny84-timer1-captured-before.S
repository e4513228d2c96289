; A capture may have come before the counter was written, and is seen only afterwards.
; device: attiny84
#include "tiny84.inc"
#include "timer1-captured-before.S"
