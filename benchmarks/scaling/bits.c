/* N independent input bits, 1 to 32, gathered one by one from bit 0 of port B into one number, of which the lowest byte is shown
 * on port D: every one of the 2^N numbers is there at the end of a round. */
#include <avr/io.h>
#include <stdint.h>

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRD = 0xff;
    for (;;) {
        __asm__ volatile(".global loop_start\nloop_start:");
        uint32_t gathered = 0;
        for (uint8_t i = 0; i < N; i++) {
            gathered = gathered << 1 | (PINB & 1);
        }
        GPIOR0 = gathered >> 16;
        GPIOR1 = gathered >> 8;
        PORTD = gathered;
    }
}
