; The comparator can trigger the capture of timer 1.
; device: attiny84
#include "tiny84.inc"
#undef DDRB
#define DDRB DDRA
#undef DDB0
#define DDB0 DDA7
#include "comparator-capture.S"
