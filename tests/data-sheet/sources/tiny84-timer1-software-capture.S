; The program triggers a capture by driving the capture pin.
; device: attiny84
#include "tiny84.inc"
#undef DDRB
#define DDRB DDRA
#undef DDB0
#define DDB0 DDA7
#undef PORTB
#define PORTB PORTA
#undef PORTB0
#define PORTB0 PORTA7
#include "timer1-software-capture.S"
