; While the prescaler is held in reset a timer that it clocks stands still.
; device: attiny84
#include "tiny84.inc"
#include "prescaler-halts.S"
