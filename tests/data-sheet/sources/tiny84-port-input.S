; The level of an input is the choice of the environment.
; device: attiny84
#include "tiny84.inc"
#include "port-input.S"
