; The pin of a running transmitter is an output, whatever the direction register says.
; device: atmega1284p
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef UCSR0B
#define UCSR0B UCSR1B
#undef TXEN0
#define TXEN0 TXEN1
#undef PIND1
#define PIND1 PIND3
#include "usart-transmit-pin.S"
