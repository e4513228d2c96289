; A low level at the reset pin is a reset, unless its fuse makes it a port.
; device: attiny13
#include "tiny-port-reset-pin.S"
