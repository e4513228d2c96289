/* One branch on one input bit: port D shows 1 or 2 for ever. */
#include <avr/io.h>

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRD = 0xff;
    if (PINB & 0x01) {
        PORTD = 1;
    } else {
        PORTD = 2;
    }
    for (;;) {
    }
}
