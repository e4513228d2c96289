/* A light that stays on: with interrupts off it waits for a flag that only a handler sets. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>

volatile uint8_t requested;

ISR(INT0_vect)
{
    requested = 1;
}

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRB = 1 << 5;
    EIMSK = 1 << INT0;
    sei();
    for (;;) {
        PORTB ^= 1 << 5;
        cli();
        requested = 0;
        while (!requested) {
        }
        sei();
    }
}
