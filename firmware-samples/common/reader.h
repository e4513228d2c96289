/* A reader: PORTB.0 claims what is shared, PIND.2 reads the claim of the writer, PORTB.2 is 1 while it reads. Several may read at once. It
 * gives way to a writer who claims as well. A hasty one does not look again after its own claim. */
#include <avr/io.h>

int main(void)
{
    DDRB = _BV(DDB0) | _BV(DDB2);
    for (;;) {
#if HASTY
        while (PIND & _BV(PIND2)) {
        }
        PORTB |= _BV(PORTB0);
#else
        PORTB |= _BV(PORTB0);
        while (PIND & _BV(PIND2)) {
            PORTB &= ~_BV(PORTB0);
            while (PIND & _BV(PIND2)) {
            }
            PORTB |= _BV(PORTB0);
        }
#endif
        PORTB |= _BV(PORTB2);
        PORTB &= ~_BV(PORTB2);
        PORTB &= ~_BV(PORTB0);
    }
}
