/* A counter of two bytes that the handler of timer 0 changes and the main loop reads.
 *
 * The handler moves the counter between 0x00ff and 0x0100 only. The main loop copies it and shows bit 8 of the copy on
 * bit 5 of port B. A sample defines PROTECTED: 1 when the copy is made with interrupts disabled; with 0 the handler may
 * run between the two loads, and the copy is then 0x0000 or 0x01ff, which the counter never was.
 */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>

volatile uint16_t counter;
volatile uint16_t copy;

ISR(TIMER0_OVF_vect)
{
    counter = counter == 0x00ff ? 0x0100 : 0x00ff;
}

int main(void) __attribute__((OS_main));

int main(void)
{
    counter = 0x00ff;
    copy = 0x00ff;
    DDRB = 1 << 5;
    TCCR0B = 1 << CS00;
    TIMSK0 = 1 << TOIE0;
    sei();
    for (;;) {
#if PROTECTED
        cli();
#endif
        uint16_t now = counter;
#if PROTECTED
        sei();
#endif
        copy = now;
        __asm__ volatile(".global copied\ncopied:");
        if (now & 0x0100) {
            PORTB |= 1 << 5;
        } else {
            PORTB &= ~(1 << 5);
        }
    }
}
