; Hardware clears both bits again.
; device: attiny84
#include "tiny84.inc"
#include "tiny-brown-out-sequence.S"
