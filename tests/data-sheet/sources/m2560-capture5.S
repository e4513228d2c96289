; What is captured at ICP5 sets its flag, until a one is written to it.
; device: atmega2560
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef TIFR1
#define TIFR1 TIFR5
#undef ICF1
#define ICF1 ICF5
#include "timer1-capture-flag.S"
