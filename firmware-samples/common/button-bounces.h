/* A button at bit 2 of port D, which bounces when it is pressed and released. The light at bit 0 of port B is switched over
 * when the button was down for so many looks in a row, and not again until it was up for as many.
 *
 * A sample defines LOOKS: with less than the button may need, it counts a press twice.
 */
#include <avr/io.h>
#include <stdint.h>

volatile uint8_t presses;

static uint8_t is_down(void)
{
    return PIND & 0x04;
}

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRB = 0x01;
    for (;;) {
        uint8_t looks = 0;
        while (looks < LOOKS) {
            looks = is_down() ? looks + 1 : 0;
        }
        if (presses < 2) {
            presses++;
        }
        PORTB ^= 0x01;
        looks = 0;
        while (looks < LOOKS) {
            looks = is_down() ? 0 : looks + 1;
        }
    }
}
