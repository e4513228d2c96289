; What is captured of a stopped timer is its value.
; device: attiny84
#include "tiny84.inc"
#include "timer1-captured.S"
