; The flags of timer 0 are cleared one by one.
; device: attiny84
#include "tiny84.inc"
#undef TOV1
#define TOV1 OCF0A
#include "tiny-timer-flags.S"
