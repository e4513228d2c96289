// A number of 16 bits is compared with a limit. A byte remembers the outcome, and behind a loop it is asked beside the number.
#include <avr/io.h>
#include <stdint.h>

#define LIMIT 1000

volatile uint16_t inlet __attribute__((section(".noinit")));
volatile uint8_t is_hot;

int main(void)
{
    DDRB = _BV(DDB0);
    for (;;) {
        is_hot = inlet > LIMIT;
        for (uint8_t left = PIND; left > 0; left--) {
            PORTC = left;
            IN_BETWEEN();
        }
        if (is_hot) {
            if (inlet <= LIMIT) {
                PORTB = 0x2a;
            }
        }
        if (PIND == 7) {
            inlet += 3;
        }
    }
}
