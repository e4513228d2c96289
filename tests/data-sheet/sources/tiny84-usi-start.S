; In two-wire mode a start condition sets its flag.
; device: attiny84
#include "tiny84.inc"
#include "tiny-usi-start.S"
