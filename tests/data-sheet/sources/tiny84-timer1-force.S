; The bits that force a compare match read 0 and set no flag.
; device: attiny84
#include "tiny84.inc"
#include "timer1-force.S"
