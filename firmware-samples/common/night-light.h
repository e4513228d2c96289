/* A lamp at pin 0 of port B that comes on for a while when something moves at pin 1 and it is dark at pin 4. Timer 0 counts the
 * time down, and the processor sleeps in between. With a port A, movement is at pin 1 of that, and the light at pin 2.
 */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>
#include <stdint.h>

#ifndef TIMSK0
#define TIMSK0 TIMSK
#endif
#ifdef PORTA
#define PCMSK PCMSK0
#define PCIE PCIE0
#endif

enum { DARK = 0x40, TICKS = 8 };

static volatile uint8_t moved, left;

ISR(PCINT0_vect)
{
    moved = 1;
}

ISR(TIM0_OVF_vect)
{
    uint8_t ticks = left;
    if (ticks) {
        left = ticks - 1;
    }
}

static uint8_t is_dark(void) __attribute__((noinline));

static uint8_t is_dark(void)
{
    ADCSRA |= 1 << ADSC;
    while (ADCSRA & 1 << ADSC) {
    }
    return ADCH < DARK;
}

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRB = 1 << DDB0;
    PCMSK = 1 << PCINT1;
    GIMSK = 1 << PCIE;
#ifdef PORTA
    ADCSRB = 1 << ADLAR;
    ADMUX = 1 << MUX1;
#else
    ADMUX = 1 << ADLAR | 1 << MUX1;
#endif
    ADCSRA = 1 << ADEN | 1 << ADPS1;
    TCCR0B = 1 << CS02;
    TIMSK0 = 1 << TOIE0;
    sei();
    for (;;) {
        if (moved) {
            moved = 0;
            if (is_dark()) {
                left = TICKS;
                PORTB |= 1 << PORTB0;
            }
        }
        if (!left) {
            PORTB &= ~(1 << PORTB0);
        }
        sleep_mode();
    }
}
