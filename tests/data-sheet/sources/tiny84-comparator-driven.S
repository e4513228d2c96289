; With both pins driven by the processor the output of the comparator is not the choice of the environment.
; device: attiny84
#include "tiny84.inc"
#undef DDRB
#define DDRB DDRA
#undef DDB0
#define DDB0 DDA1
#undef DDB1
#define DDB1 DDA2
#undef PORTB
#define PORTB PORTA
#undef PORTB1
#define PORTB1 PORTA2
#include "tiny-comparator-driven.S"
