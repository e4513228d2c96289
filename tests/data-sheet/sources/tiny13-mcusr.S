; The reset flags are cleared by writing zeros to them.
; device: attiny13
#include "tiny-mcusr.S"
