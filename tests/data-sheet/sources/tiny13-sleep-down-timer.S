; A timer does not wake the processor from power-down.
; device: attiny13
#define vector_5 vector_3
#define TIMSK TIMSK0
#include "tiny-sleep-down-timer.S"
