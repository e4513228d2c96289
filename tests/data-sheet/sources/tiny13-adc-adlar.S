; ADLAR moves a result that is already there.
; device: attiny13
#include "tiny-adc-adlar.S"
