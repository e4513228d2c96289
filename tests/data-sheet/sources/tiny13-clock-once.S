; One change of the prescaler needs one CLKPCE.
; device: attiny13
#include "tiny-clock-once.S"
