; Without a clock the counter and the data keep what is written to them.
; device: attiny84
#include "tiny84.inc"
#include "tiny-usi-kept.S"
