; A timer counts again when its prescaler is released.
; device: attiny84
#include "tiny84.inc"
#include "prescaler-released.S"
