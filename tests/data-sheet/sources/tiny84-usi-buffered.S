; The buffer takes the data when the counter overflows.
; device: attiny84
#include "tiny84.inc"
#include "tiny-usi-buffered.S"
