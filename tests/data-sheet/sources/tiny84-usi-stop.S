; A stop condition on the bus sets its flag, which a written zero leaves.
; device: attiny84
#include "tiny84.inc"
#include "tiny-usi-stop.S"
