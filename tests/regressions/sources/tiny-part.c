// A program for another core than the default device has, which names its part.
// device: attiny85
#include <avr/io.h>

int main(void)
{
    DDRB = 1;
    for (;;) {
        PORTB ^= 1;
    }
}
