; Once ADCL was read the result stays until ADCH is read.
; device: attiny84
#include "tiny84.inc"
#include "tiny-adc-lock.S"
