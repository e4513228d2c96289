/* A surge protector (Chaki, "A Counterexample Guided Abstraction Refinement Framework for Verifying Concurrent C Programs",
 * section 8.4): the current on port D never rises beyond the threshold that is set. Bits 0 and 1 of port B are a value,
 * bit 2 says that it is the threshold. */
#include <avr/io.h>
#include <stdint.h>

volatile uint8_t threshold;

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRD = 0x03;
    for (;;) {
        uint8_t order = PINB;
        uint8_t value = order & 0x03;
        if (value == 3) {
            continue;
        }
        if (order & 0x04) {
            threshold = value;
        } else if (value <= threshold) {
            PORTD = value;
        }
    }
}
