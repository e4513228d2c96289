; A converter that is only switched on converts nothing.
; device: attiny13
#include "tiny-adc-none.S"
