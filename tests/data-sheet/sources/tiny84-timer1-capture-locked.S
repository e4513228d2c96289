; Outside the modes with ICR1 as the top the capture register cannot be written.
; device: attiny84
#include "tiny84.inc"
#include "timer1-capture-locked.S"
