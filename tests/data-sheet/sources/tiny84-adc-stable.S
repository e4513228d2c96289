; Between conversions the result stays as it is, and it is what the environment supplied.
; device: attiny84
#include "tiny84.inc"
#include "tiny-adc-stable.S"
