; In the modes with ICR1 as the top it keeps what is written.
; device: attiny84
#include "tiny84.inc"
#include "timer1-capture-top.S"
