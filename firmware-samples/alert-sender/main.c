/* A sender: once the listener is ready (PIND.2), it pulls the line at PORTB.0 low until the alert is acknowledged (PIND.3), again and
 * again. */
#include <avr/io.h>

int main(void)
{
    PORTB = _BV(PORTB0);
    DDRB = _BV(DDB0);
    while (!(PIND & _BV(PIND2))) {
    }
    for (;;) {
        PORTB &= ~_BV(PORTB0);
        while (!(PIND & _BV(PIND3))) {
        }
        PORTB |= _BV(PORTB0);
        while (PIND & _BV(PIND3)) {
        }
    }
}
