; Where no pin is enabled the flag of the pin changes stays 0.
; device: attiny84
#include "tiny84.inc"
#undef PCIF
#define PCIF PCIF1
#include "tiny-pin-change-masked.S"
