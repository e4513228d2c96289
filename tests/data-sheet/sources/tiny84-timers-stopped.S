; A timer that was never started stays at 0 and sets no flags.
; device: attiny84
#include "tiny84.inc"
#include "tiny13-timers-stopped.S"
