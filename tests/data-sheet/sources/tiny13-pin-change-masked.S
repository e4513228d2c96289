; Where no pin is enabled the flag of the pin changes stays 0.
; device: attiny13
#include "tiny-pin-change-masked.S"
