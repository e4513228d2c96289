; What USART1 receives is the choice of the environment.
; device: atmega1284p
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef UCSR0A
#define UCSR0A UCSR1A
#undef UCSR0B
#define UCSR0B UCSR1B
#undef UCSR0C
#define UCSR0C UCSR1C
#undef UDR0
#define UDR0 UDR1
#include "usart-received.S"
