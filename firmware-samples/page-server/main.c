/* The server of pages. PORTB.1 tells that its receiver is on. */
#include "../common/page.h"

/* The first page has one byte, and the second one is empty. */
static inline uint8_t length_of(uint8_t page)
{
    return page == 0 ? PAGE_SIZE : 0;
}

int main(void)
{
    DDRB = _BV(DDB1);
    start();
    PORTB = _BV(PORTB1);
    for (;;) {
        uint8_t length = length_of(receive());
        do {
            uint8_t check = length;
            send(length);
            for (uint8_t i = 0; i < length; i++) {
                uint8_t byte = 0x50 + i;
                send(byte);
                check ^= byte;
            }
            send(check);
        } while (receive() != ACKNOWLEDGED);
    }
}
