; Hardware clears SPMEN and the bit of the operation when no SPM follows within four cycles.
; device: attiny84
#include "tiny84.inc"
#include "tiny-self-programming-late.S"
