/* The receiver of five characters. PORTB.0 shows that one was not the next, PORTB.1 that the receiver is on. */
#include "burst.h"

int main(void)
{
    DDRB = _BV(DDB0) | _BV(DDB1);
    start();
    PORTB |= _BV(PORTB1);
    for (;;) {
        for (uint8_t count = 0; count < CHARACTERS; count++) {
            if (receive() != count)
                PORTB |= _BV(PORTB0);
#if PACED
            send(ANSWER);
#endif
        }
#if !PACED
        send(ANSWER);
#endif
    }
}
