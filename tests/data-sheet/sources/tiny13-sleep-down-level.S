; A low level wakes the processor from power-down.
; device: attiny13
#include "tiny-sleep-down-level.S"
