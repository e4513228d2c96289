/* As blink-ticks, but the interrupt is never enabled: no tick comes, and the light never goes on. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>

volatile uint32_t ticks;

ISR(TIMER0_OVF_vect)
{
    ticks++;
}

static uint32_t last;

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRB = 1 << 5;
    TCCR0B = 1 << CS01 | 1 << CS00;
    sei();
    for (;;) {
        if (ticks - last >= 500) {
            last = ticks;
            PORTB ^= 1 << 5;
        }
    }
}
