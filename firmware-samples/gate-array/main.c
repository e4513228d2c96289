/* Six logic gates: port D shows functions of the two inputs at bits 0 and 1 of port B.
 * Bit 0: and, 1: or, 2: exclusive or, 3: not and, 4: not or, 5: equal.
 */
#include <avr/io.h>
#include <stdint.h>

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRD = 0x3f;
    for (;;) {
        __asm__ volatile(".global loop_start\nloop_start:");
        uint8_t inputs = PINB;
        uint8_t a = inputs & 1;
        uint8_t b = (inputs >> 1) & 1;
        uint8_t gates = (a & b) | (uint8_t)((a | b) << 1) | (uint8_t)((a ^ b) << 2);
        PORTD = gates | (uint8_t)((~gates & 0x07) << 3);
    }
}
