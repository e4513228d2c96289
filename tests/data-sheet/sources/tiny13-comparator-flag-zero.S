; The flag stays when a zero is written to it.
; device: attiny13
#include "tiny-comparator-flag-zero.S"
