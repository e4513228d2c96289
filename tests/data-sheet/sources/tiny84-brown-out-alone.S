; Without the enable bit the detector stays on.
; device: attiny84
#include "tiny84.inc"
#include "tiny-brown-out-alone.S"
