/* A philosopher at a round table. A fork lies between two of them, who claim it by a pin each: PORTB.0 claims the fork to the left,
 * PORTB.1 the one to the right; PIND.2 and PIND.3 read the claims of the neighbours. Who claims a fork as the one to the right keeps
 * the claim until the fork is free, who claims it as the one to the left gives way. PORTB.2 is 1 while the philosopher eats. */
#include <avr/io.h>

static inline void take_left(void)
{
    for (;;) {
        while (PIND & _BV(PIND2)) {
        }
        PORTB |= _BV(PORTB0);
        if (!(PIND & _BV(PIND2)))
            return;
        PORTB &= ~_BV(PORTB0);
    }
}

static inline void take_right(void)
{
    PORTB |= _BV(PORTB1);
    while (PIND & _BV(PIND3)) {
    }
}

int main(void)
{
    DDRB = _BV(DDB0) | _BV(DDB1) | _BV(DDB2);
    for (;;) {
#if RIGHT_FIRST
        take_right();
        take_left();
#else
        take_left();
        take_right();
#endif
        PORTB |= _BV(PORTB2);
        PORTB &= ~_BV(PORTB2);
        PORTB &= ~_BV(PORTB0);
        PORTB &= ~_BV(PORTB1);
    }
}
