; In the modes with ICR1 as the top a stopped timer captures nothing.
; device: attiny84
#include "tiny84.inc"
#include "timer1-capture-off.S"
