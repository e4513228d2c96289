; An input whose digital buffer is off reads 0.
; device: attiny13
#include "tiny-port-digital-disable.S"
