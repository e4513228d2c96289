// A number of 16 bits is compared with a constant, and again behind a loop. It moves away from any constant in as many
// steps as it has values, so a state for each of them is too many.
#include <avr/io.h>
#include <stdint.h>

#define WANTED 0x1234

volatile uint16_t number __attribute__((section(".noinit")));
volatile uint8_t rounds __attribute__((section(".noinit")));

int main(void)
{
    DDRB = _BV(DDB0);
    for (;;) {
        if (number == WANTED) {
            for (uint8_t round = 0; round < rounds; round++) {
                PORTC = round;
                IN_BETWEEN();
            }
            if (number != WANTED) {
                PORTB = 0x2a;
            }
        }
        if (PIND == 7) {
            number++;
        }
    }
}
