/* The surge protector with a defect: the port is read once more between the check and the change. */
#include <avr/io.h>
#include <stdint.h>

volatile uint8_t threshold;

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRD = 0x03;
    for (;;) {
        uint8_t value = PINB & 0x03;
        if (value == 3) {
            continue;
        }
        if (PINB & 0x04) {
            threshold = value;
        } else if (value <= threshold) {
            uint8_t again = PINB & 0x03;
            if (again != 3) {
                PORTD = again;
            }
        }
    }
}
