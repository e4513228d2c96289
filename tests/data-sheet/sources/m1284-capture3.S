; What is captured at ICP3 sets its flag, until a one is written to it.
; device: atmega1284p
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef TIFR1
#define TIFR1 TIFR3
#undef ICF1
#define ICF1 ICF3
#undef TCCR1B
#define TCCR1B TCCR3B
#undef ICES1
#define ICES1 ICES3
#include "timer1-capture-flag.S"
