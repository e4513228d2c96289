; The clock strobe counts by one and shifts the data by one bit, and the new bit is the choice of the environment.
; device: attiny84
#include "tiny84.inc"
#include "tiny-usi-strobe.S"
