; A timer that was never started sets none of its own flags.
; device: attiny84
#include "tiny84.inc"
#include "timer1-no-flags.S"
