; The pin of a running receiver is an input, whatever the direction register says.
; device: atmega1284p
#define __SFR_OFFSET 0
#include <avr/io.h>
#undef UCSR0B
#define UCSR0B UCSR1B
#undef RXEN0
#define RXEN0 RXEN1
#undef DDD0
#define DDD0 DDD2
#undef PIND0
#define PIND0 PIND2
#include "usart-receive-pin.S"
