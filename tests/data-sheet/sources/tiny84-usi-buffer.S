; The buffer takes a byte when a transfer is complete, and there is none.
; device: attiny84
#include "tiny84.inc"
#include "tiny-usi-buffer.S"
