/* A light that changes with every 16th overflow of timer 0. The handler counts in a shared byte. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>

volatile uint8_t overflows;

ISR(TIMER0_OVF_vect)
{
    overflows++;
}

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRB = 1 << 5;
    TCCR0B = 1 << CS00;
    TIMSK0 = 1 << TOIE0;
    sei();
    for (;;) {
        if (overflows & 0x10) {
            PORTB |= 1 << 5;
        } else {
            PORTB &= ~(1 << 5);
        }
    }
}
