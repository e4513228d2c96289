/* As blink-modes, but the overflow of timer 1 is never enabled: the light stays as it is once the button was pressed. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>

volatile uint32_t ticks;
volatile uint16_t slow_ticks;

ISR(TIMER0_OVF_vect)
{
    ticks++;
}

ISR(TIMER1_OVF_vect)
{
    slow_ticks++;
}

static void wait_slowly(void)
{
    cli();
    uint16_t start = slow_ticks;
    sei();
    for (;;) {
        cli();
        uint16_t now = slow_ticks;
        sei();
        if ((uint16_t)(now - start) >= 8)
            return;
    }
}

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRB = 1 << 5;
    TCCR0B = 1 << CS01 | 1 << CS00;
    TIMSK0 = 1 << TOIE0;
    TCCR1B = 1 << CS10;
    sei();
    uint32_t last = 0;
    for (;;) {
        PORTB ^= 1 << 5;
        if (!(PIND & 1 << 2)) {
            wait_slowly();
            continue;
        }
        uint32_t now;
        do {
            cli();
            now = ticks;
            sei();
        } while (now - last < 500);
        last = now;
    }
}
