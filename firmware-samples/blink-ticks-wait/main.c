/* A light that changes after waits for 500 ticks, which are read with interrupts off. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>

volatile uint32_t ticks;

ISR(TIMER0_OVF_vect)
{
    ticks++;
}

static uint32_t now(void)
{
    uint8_t sreg = SREG;
    cli();
    uint32_t value = ticks;
    SREG = sreg;
    return value;
}

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRB = 1 << 5;
    TCCR0B = 1 << CS01 | 1 << CS00;
    TIMSK0 = 1 << TOIE0;
    sei();
    for (;;) {
        PORTB ^= 1 << 5;
        uint32_t start = now();
        while (now() - start < 500) {
        }
    }
}
