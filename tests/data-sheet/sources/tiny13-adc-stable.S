; Between conversions the result stays as it is, and it is what the environment supplied.
; device: attiny13
#include "tiny-adc-stable.S"
