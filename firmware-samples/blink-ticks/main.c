/* A light that changes every 500 ticks, which the overflows of timer 0 count. */
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
    TIMSK0 = 1 << TOIE0;
    sei();
    for (;;) {
        if (ticks - last >= 500) {
            last = ticks;
            PORTB ^= 1 << 5;
        }
    }
}
