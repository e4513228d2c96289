; For a level interrupt the flag stays 0.
; device: attiny13
#include "tiny-int0-level-flag.S"
