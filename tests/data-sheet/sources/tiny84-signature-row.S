; The signature row and then the flash.
; device: attiny84
#include "tiny84.inc"
#include "tiny-signature-row.S"
