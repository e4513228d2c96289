; A timer does not wake the processor from power-down.
; device: attiny84
#include "tiny84.inc"
#undef vector_5
#define vector_5 vector_11
#include "tiny-sleep-down-timer.S"
