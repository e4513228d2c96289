; While the prescaler is held in reset timer 1 stands still as well.
; device: attiny84
#include "tiny84.inc"
#undef TCCR0B
#define TCCR0B TCCR1B - 0x20
#undef CS01
#define CS01 CS11
#undef TCNT0
#define TCNT0 TCNT1L - 0x20
#include "prescaler-halts.S"
