; An edge is kept in the flag until a one is written to it.
; device: attiny84
#include "tiny84.inc"
#include "tiny-int0-edge-flag.S"
