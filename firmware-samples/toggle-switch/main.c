/* A momentary switch (bit 0 of port C, low when pressed) that toggles a light (bit 0 of port B).
 * Bit 1 of port B follows the switch. After each change of the switch a counted delay lets the contacts settle.
 */
#define F_CPU 1000000UL
#include <avr/io.h>
#include <util/delay.h>

#define SWITCH 0x01
#define TOGGLED 0x01
#define PRESSED 0x02

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRB = TOGGLED | PRESSED;
    PORTC = SWITCH; /* pull-up */
    for (;;) {
        __asm__ volatile(".global loop_start\nloop_start:");
        while (PINC & SWITCH) {
        }
        PORTB |= PRESSED;
        PORTB ^= TOGGLED;
        _delay_us(1000);
        while (!(PINC & SWITCH)) {
        }
        PORTB &= ~PRESSED;
        _delay_us(1000);
    }
}
