// Two limits of 16 bits are put in order. Behind a loop the lower one is not above the upper one.
#include <avr/io.h>
#include <stdint.h>

volatile uint16_t lower __attribute__((section(".noinit")));
volatile uint16_t upper __attribute__((section(".noinit")));

int main(void)
{
    DDRB = _BV(DDB0);
    for (;;) {
        if (lower > upper) {
            uint16_t least = upper;
            upper = lower;
            lower = least + EXTRA;
        }
        for (uint8_t left = PIND; left > 0; left--) {
            PORTC = left;
        }
        if (lower > upper) {
            PORTB = 0x2a;
        }
        if (PIND == 7) {
            lower += 3;
        }
        if (PIND == 9) {
            upper += 5;
        }
    }
}
