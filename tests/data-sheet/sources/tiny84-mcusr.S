; The reset flags are cleared by writing zeros to them.
; device: attiny84
#include "tiny84.inc"
#include "tiny-mcusr.S"
