/* The sender of five characters. It begins when PIND.2 tells that the receiver is on. */
#include "burst.h"

int main(void)
{
    start();
    while (!(PIND & _BV(PIND2))) {
    }
    for (;;) {
        for (uint8_t count = 0; count < CHARACTERS; count++) {
            send(count);
#if PACED
            receive();
#endif
        }
#if !PACED
        receive();
#endif
    }
}
