/* The client that loads pages. It begins when PIND.2 tells that the receiver of the server is on. PORTB.0 shows that a check byte was
 * wrong, or a page too long. MORE: the bytes that it takes beside those that the length tells. EARLY: it acknowledges a page before it has
 * the check byte. */
#include "page.h"

static volatile uint8_t loaded[PAGE_SIZE + MORE];

/* Takes a page; true if its check byte is right. */
static inline uint8_t take(void)
{
    uint8_t length = receive(), check = length;
    if (length > PAGE_SIZE)
        return 0;
    for (uint8_t i = 0; i < length + MORE; i++) {
        uint8_t byte = receive();
        loaded[i] = byte;
        check ^= byte;
    }
#if EARLY
    send(ACKNOWLEDGED);
#endif
    return receive() == check;
}

int main(void)
{
    DDRB = _BV(DDB0);
    start();
    while (!(PIND & _BV(PIND2))) {
    }
    for (;;) {
        for (uint8_t page = 0; page < PAGES; page++) {
            send(page);
            while (!take()) {
                PORTB |= _BV(PORTB0);
                send(AGAIN);
            }
#if !EARLY
            send(ACKNOWLEDGED);
#endif
        }
    }
}
