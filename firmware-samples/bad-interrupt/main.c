/* Timer 0 may interrupt, but its vector leads to the default handler, which jumps to the reset vector. */
#include <avr/interrupt.h>
#include <avr/io.h>

int main(void) __attribute__((OS_main));

int main(void)
{
    TCCR0B = 1 << CS00;
    TIMSK0 = 1 << TOIE0;
    sei();
    for (;;) {
    }
}
