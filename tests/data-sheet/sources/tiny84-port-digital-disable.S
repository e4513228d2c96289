; An input whose digital buffer is off reads 0.
; device: attiny84
#include "tiny84.inc"
#undef PINB
#define PINB PINA
#undef PINB2
#define PINB2 PINA1
#include "tiny-port-digital-disable.S"
