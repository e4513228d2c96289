/* Interrupt handlers that allow others to interrupt them. A sample defines BOUNDED.
 *
 * The handler of external interrupt 0 sets the I flag while it works. With BOUNDED it first disables its own source, so
 * that only external interrupt 1 can come in between; without, it can interrupt itself without end.
 */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>

volatile uint8_t zeros;
volatile uint8_t ones;

ISR(INT0_vect)
{
#if BOUNDED
    EIMSK &= ~(1 << INT0);
#endif
    sei();
    zeros++;
    cli();
#if BOUNDED
    EIMSK |= 1 << INT0;
#endif
}

ISR(INT1_vect)
{
    ones++;
}

int main(void) __attribute__((OS_main));

int main(void)
{
    EICRA = (1 << ISC01) | (1 << ISC11);
    EIMSK = (1 << INT0) | (1 << INT1);
    sei();
    for (;;) {
    }
}
