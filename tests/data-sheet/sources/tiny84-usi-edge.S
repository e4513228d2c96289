; With three wires and a clock from outside an edge of the clock sets the flag of start conditions.
; device: attiny84
#include "tiny84.inc"
#include "tiny-usi-edge.S"
