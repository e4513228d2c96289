/* The same as answer-in-time, but a request begins the wait anew, so that requests postpone what comes after it for as long as they
   come. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>

volatile uint16_t left;
volatile uint8_t request;

ISR(INT0_vect)
{
    request = 1;
    left = 50000;
}

static void wait(void)
{
    left = 50000;
    while (left) {
        cli();
        if (left) {
            left--;
        }
        sei();
    }
}

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRB = 1 << 5 | 1 << 4;
    EICRA = 1 << ISC01;
    EIMSK = 1 << INT0;
    sei();
    for (;;) {
        PORTB |= 1 << 5;
        wait();
        if (request) {
            PORTB |= 1 << 4;
            request = 0;
            PORTB &= (uint8_t) ~(1 << 4);
        }
        PORTB &= (uint8_t) ~(1 << 5);
    }
}
