; While the flag of a capture stands there may be another one.
; device: attiny84
#include "tiny84.inc"
#include "timer1-captured-again.S"
