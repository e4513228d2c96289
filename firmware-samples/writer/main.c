/* A writer: PORTB.0 claims what is shared, PIND.2 to PIND.5 read the claims of up to four readers, PORTB.2 is 1 while it writes. It keeps
 * its claim until no reader has one. */
#include <avr/io.h>

int main(void)
{
    DDRB = _BV(DDB0) | _BV(DDB2);
    for (;;) {
        PORTB |= _BV(PORTB0);
        while (PIND & (_BV(PIND2) | _BV(PIND3) | _BV(PIND4) | _BV(PIND5))) {
        }
        PORTB |= _BV(PORTB2);
        PORTB &= ~_BV(PORTB2);
        PORTB &= ~_BV(PORTB0);
    }
}
