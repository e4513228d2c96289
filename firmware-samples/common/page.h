/* The loading of pages over a serial line. The client asks for a page by its number, the server sends its length, its bytes and a check
 * byte, and the client acknowledges or asks for the page again. Length, byte and check are the three characters that a receiver holds. */
#include <avr/io.h>

#define PAGES 2
#define PAGE_SIZE 1
#define ACKNOWLEDGED 0x06
#define AGAIN 0x15

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
