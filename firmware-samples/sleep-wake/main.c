/* Sleeps until the external interrupt 0 comes, changes the light on bit 0 of port B and sleeps again.
 * The flag is tested with interrupts disabled, and SLEEP follows SEI at once, so no request gets lost in between.
 */
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
    DDRB = 1;
    EICRA = 1 << ISC01;
    EIMSK = 1 << INT0;
    for (;;) {
        cli();
        if (!requested) {
            SMCR = 1 << SE;
            __asm__ volatile("sei\n\tsleep" ::: "memory");
            SMCR = 0;
        }
        sei();
        if (requested) {
            requested = 0;
            PORTB ^= 1;
        }
    }
}
