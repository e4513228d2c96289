/* A light on bit 5 of port B that changes after a counted delay. */
#define F_CPU 1000000UL
#include <avr/io.h>
#include <util/delay.h>

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRB = 1 << 5;
    for (;;) {
        PORTB |= 1 << 5;
        _delay_us(4000);
        PORTB &= ~(1 << 5);
        _delay_us(4000);
    }
}
