; The port reads back as written.
; device: attiny13
#include "tiny-port-readback.S"
