; Hardware clears SPMEN and the bit of the operation when no SPM follows within four cycles.
; device: attiny13
#define SPMEN SELFPRGEN
#include "tiny-self-programming-late.S"
