/* The watchdog resets the processor unless the main loop serves it, which it stops to do while bit 0 of port D is high.
 * After a reset by the watchdog bit 0 of port B is set: the light that says so.
 */
#include <avr/io.h>
#include <avr/wdt.h>
#include <stdint.h>

#define PAUSE 0x01

int main(void) __attribute__((OS_main));

int main(void)
{
    uint8_t cause = MCUSR;
    MCUSR = 0;
    WDTCSR = (1 << WDCE) | (1 << WDE);
    WDTCSR = (1 << WDE) | (1 << WDP2);
    DDRB = 1;
    if (cause & (1 << WDRF)) {
        PORTB = 1;
    }
    for (;;) {
        __asm__ volatile(".global loop_start\nloop_start:");
        if (!(PIND & PAUSE)) {
            wdt_reset();
        }
    }
}
