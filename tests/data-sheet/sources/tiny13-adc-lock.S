; Once ADCL was read the result stays until ADCH is read.
; device: attiny13
#include "tiny-adc-lock.S"
