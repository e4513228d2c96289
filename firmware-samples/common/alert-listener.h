/* A listener: the line at PIND.2 requests INT0. PORTB.0 is 1 once it listens, and PORTB.1 acknowledges until the line is released. */
#include <avr/interrupt.h>
#include <avr/io.h>

static volatile uint8_t alert;

ISR(INT0_vect)
{
    alert = 1;
}

int main(void)
{
    DDRB = _BV(DDB0) | _BV(DDB1);
    EICRA = SENSE;
    EIFR = _BV(INTF0);
    EIMSK = _BV(INT0);
    sei();
    PORTB |= _BV(PORTB0);
    for (;;) {
        while (!alert) {
        }
        alert = 0;
        PORTB |= _BV(PORTB1);
        while (!(PIND & _BV(PIND2))) {
        }
        PORTB &= ~_BV(PORTB1);
    }
}
