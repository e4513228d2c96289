; A converter that is only switched on converts nothing.
; device: attiny84
#include "tiny84.inc"
#include "tiny-adc-none.S"
