/* A light that changes after busy waits, beside handlers that count ticks and take note of a request. The request is answered by a
   pulse. Nothing that comes from outside keeps any of that from happening: waits are for a time, or for a pin and no longer than a
   time. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>

#define PAUSE() __asm__ volatile("nop")

volatile uint16_t ticks;
volatile uint8_t request;

ISR(TIMER0_OVF_vect)
{
    ticks++;
}

ISR(INT0_vect)
{
    request = 1;
}

static void wait(void)
{
    for (uint16_t i = 50000; i > 0; i--) {
        PAUSE();
    }
}

static void wait_for_pin(void)
{
    for (uint16_t i = 0; i < 1000 && !(PINB & 1); i++) {
    }
}

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRB = 1 << 5 | 1 << 4;
    TCCR0B = 1 << CS01 | 1 << CS00;
    TIMSK0 = 1 << TOIE0;
    EICRA = 1 << ISC01;
    EIMSK = 1 << INT0;
    sei();
    for (;;) {
        PORTB |= 1 << 5;
        wait();
        if (request) {
            PORTB |= 1 << 4;
            request = 0;
            wait_for_pin();
            PORTB &= (uint8_t) ~(1 << 4);
        }
        PORTB &= (uint8_t) ~(1 << 5);
        wait_for_pin();
    }
}
