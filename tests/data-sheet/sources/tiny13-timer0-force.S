; A forced compare match reads 0 and raises no flag.
; device: attiny13
#define TIFR TIFR0
#include "tiny-timer0-force.S"
