/* Independent input bits, gathered one by one from bit 0 of port B. A sample defines BITS, 1 to 16.
 * The gathered number is shown in GPIOR2 (high byte) and GPIOR1 (low byte), and then the next one is gathered.
 */
#include <avr/io.h>
#include <stdint.h>

int main(void) __attribute__((OS_main));

int main(void)
{
    for (;;) {
        __asm__ volatile(".global loop_start\nloop_start:");
        uint16_t gathered = 0;
        for (uint8_t i = 0; i < BITS; i++) {
            gathered <<= 1;
            if (PINB & 0x01) {
                gathered |= 1;
            }
        }
        GPIOR2 = gathered >> 8;
        GPIOR1 = (uint8_t)gathered;
    }
}
