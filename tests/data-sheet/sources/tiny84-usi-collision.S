; The data line is not what the shift register gives: another one drives it.
; device: attiny84
#include "tiny84.inc"
#undef DDRB
#define DDRB DDRA
#undef DDB0
#define DDB0 DDA6
#undef PORTB
#define PORTB PORTA
#undef PORTB0
#define PORTB0 PORTA6
#include "tiny-usi-collision.S"
