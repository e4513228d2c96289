/* Calibration of a voltage-controlled oscillator by binary search.
 *
 * A start button (bit 1 of port C) is polled. When it is pressed the busy flag (bit 0 of port C) is raised and the
 * control voltage on port D is found bit by bit, most significant first: write the trial value, wait until the
 * oscillator has settled, look at the comparator (bit 7 of port B) and clear the bit again if the frequency is
 * already too high.
 *
 * A sample defines before it includes this file:
 *   WRITE_RESULT  1: the kept value is written to port D after the last round; 0: it is forgotten, so that port D is
 *                 left with the last trial, whose bit 0 is always set: the output never gets back to 0.
 *   COMPLICATED   1: eight bytes of noise are read into memory first, and every port is read through a volatile
 *                 byte, which gives more than 2^80 concrete states.
 */
#define F_CPU 1000000UL
#include <avr/io.h>
#include <stdint.h>
#include <util/delay.h>

#define START_BUTTON 0x02
#define BUSY_FLAG 0x01
#define COMPARATOR_HIGH 0x80

#if COMPLICATED
static volatile uint8_t noise[8];
static volatile uint8_t port_copy;
#define READ(port) (port_copy = (port), port_copy)
#else
#define READ(port) (port)
#endif

int main(void) __attribute__((OS_main));

int main(void)
{
#if COMPLICATED
    for (uint8_t i = 0; i < sizeof noise; i++) {
        noise[i] = PINB;
    }
#endif
    DDRC = BUSY_FLAG;
    DDRD = 0xff;

    for (;;) {
        __asm__ volatile(".global loop_start\nloop_start:");
        if (!(READ(PINC) & START_BUTTON)) {
            continue;
        }
        PORTC |= BUSY_FLAG;

        uint8_t kept = 0;
        for (uint8_t bit = 0x80; bit != 0; bit >>= 1) {
            PORTD = kept | bit;
            _delay_us(10);
            if (!(READ(PINB) & COMPARATOR_HIGH)) {
                kept |= bit;
            }
        }
#if WRITE_RESULT
        PORTD = kept;
#endif
        PORTC &= (uint8_t)~BUSY_FLAG;
    }
}
