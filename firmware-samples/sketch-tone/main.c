/* A tone on bit 1 of port B for a number of half waves after each press of a key: timer 1 in compare mode toggles the pin from its handler. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>

#define SPEAKER (1 << 1)

static volatile int16_t half_waves;

ISR(TIMER1_COMPA_vect)
{
    if (half_waves != 0) {
        PINB = SPEAKER;
        if (half_waves > 0) {
            half_waves--;
        }
    } else {
        TIMSK1 &= ~(1 << OCIE1A);
        PORTB &= ~SPEAKER;
    }
}

static void tone(uint16_t period, int16_t duration)
{
    TIMSK1 &= ~(1 << OCIE1A);
    TCCR1A = 0;
    TCCR1B = (1 << WGM12) | (1 << CS11);
    OCR1A = period;
    half_waves = duration;
    TIMSK1 |= 1 << OCIE1A;
}

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRB = SPEAKER;
    sei();
    uint8_t last = 0;
    for (;;) {
        uint8_t keys = PIND & 3;
        if (keys == last) {
            continue;
        }
        last = keys;
        if (keys & 1) {
            tone(113, 100);
        } else if (keys & 2) {
            tone(101, 200);
        }
    }
}
