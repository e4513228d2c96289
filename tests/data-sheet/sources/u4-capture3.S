; What is captured at ICP3 sets its flag, until a one is written to it.
; device: atmega32u4
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef TIFR1
#define TIFR1 TIFR3
#undef ICF1
#define ICF1 ICF3
#include "timer1-capture-flag.S"
