; A low level at the reset pin is a reset, unless its fuse makes it a port.
; device: attiny84
#include "tiny84.inc"
#undef PINB5
#define PINB5 PINB3
#include "tiny-port-reset-pin.S"
