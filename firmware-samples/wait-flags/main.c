/* A light that changes after waits: for a conversion, a received byte, a flag of a handler, and a pin with a time-out. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>

volatile uint8_t requested;

ISR(INT0_vect)
{
    requested = 1;
}

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRB = 1 << 5;
    ADMUX = 1 << REFS0;
    ADCSRA = 1 << ADEN | 7;
    UBRR0 = 103;
    UCSR0B = 1 << RXEN0;
    EIMSK = 1 << INT0;
    sei();
    for (;;) {
        PORTB ^= 1 << 5;
        ADCSRA |= 1 << ADSC;
        while (ADCSRA & 1 << ADSC) {
        }
        PORTB ^= 1 << 5;
        while (!(UCSR0A & 1 << RXC0)) {
        }
        (void)UDR0;
        PORTB ^= 1 << 5;
        requested = 0;
        while (!requested) {
        }
        PORTB ^= 1 << 5;
        uint16_t left = 20000;
        while (!(PIND & 1 << 3) && --left) {
        }
        PORTB ^= 1 << 5;
    }
}
