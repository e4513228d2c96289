; What was captured while the timer ran is not what it has now.
; device: attiny84
#include "tiny84.inc"
#include "timer1-captured-running.S"
