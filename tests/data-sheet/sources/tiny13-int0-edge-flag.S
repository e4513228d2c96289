; An edge is kept in the flag until a one is written to it.
; device: attiny13
#include "tiny-int0-edge-flag.S"
