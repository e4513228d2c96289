/* The surge protector of firmware-samples/surge-protector with values from 0 to RANGE: bits 0 to 3 of port B are a value, bit 4 says that it
 * is the threshold. */
#include <avr/io.h>
#include <stdint.h>

volatile uint8_t threshold;

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRD = 0x0f;
    for (;;) {
        uint8_t order = PINB;
        uint8_t value = order & 0x0f;
        if (value > RANGE) {
            continue;
        }
        if (order & 0x10) {
            threshold = value;
        } else if (value <= threshold) {
            PORTD = value;
        }
    }
}
