/* A light that changes by ticks of two rates: a handler counts ticks, and every 61st of them a longer one. The main loop
   waits for several of each, and counts in between while ticks come. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>

volatile uint8_t ticks;
volatile uint8_t prescale;
volatile uint8_t long_ticks;

ISR(TIMER0_OVF_vect)
{
    ticks++;
    if (++prescale == 61) {
        prescale = 0;
        long_ticks++;
    }
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
        for (uint8_t i = 0; i < 100; i++) {
            uint8_t before = ticks;
            while (ticks == before) {
            }
        }
        PORTB ^= 1 << 5;
        uint8_t start = long_ticks;
        while ((uint8_t)(long_ticks - start) < 5) {
        }
        PORTB ^= 1 << 5;
        for (uint16_t i = 0; i < 50000; i++) {
            __asm__ volatile("nop");
        }
    }
}
