/* Two nodes on a serial line: a sender of five characters that waits for an answer, and a receiver that answers. PACED: the receiver
 * answers every character, and the sender waits for that. Else it answers the last one only, and characters may come faster than they
 * are read. */
#include <avr/io.h>

#define CHARACTERS 5
#define ANSWER 6

static inline void start(void)
{
    UCSR0B = _BV(RXEN0) | _BV(TXEN0);
}

static inline void send(uint8_t character)
{
    while (!(UCSR0A & _BV(UDRE0))) {
    }
    UDR0 = character;
}

static inline uint8_t receive(void)
{
    while (!(UCSR0A & _BV(RXC0))) {
    }
    return UDR0;
}
