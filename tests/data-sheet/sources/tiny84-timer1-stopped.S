; A stopped timer keeps what is written to it.
; device: attiny84
#include "tiny84.inc"
#include "timer1-stopped.S"
