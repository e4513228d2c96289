; The port reads back as written while the serial interface is not used.
; device: attiny84
#include "tiny84.inc"
#undef PINB
#define PINB PINA
#undef PORTB
#define PORTB PORTA
#include "tiny-port-readback.S"
