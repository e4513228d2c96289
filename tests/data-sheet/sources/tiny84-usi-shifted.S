; With a clock from outside the data and the counter may change at any moment, and the program sees what was shifted in.
; device: attiny84
#include "tiny84.inc"
#include "tiny-usi-shifted.S"
