; Where the same write selects the strobe and strobes, the sheet does not say whether it clocks.
; device: attiny84
#include "tiny84.inc"
#include "tiny-usi-selected.S"
