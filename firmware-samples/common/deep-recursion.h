/* The depth of a recursion is read from port B, and 1,500 of the 2,048 bytes of SRAM are used by a table.
 * A sample defines DEEPEST, the largest depth, one less than a power of 2.
 */
#include <avr/io.h>
#include <stdint.h>

volatile uint8_t table[1500];

static uint8_t __attribute__((noinline)) sum(uint8_t depth)
{
    if (depth == 0) {
        return 0;
    }
    return table[depth] ^ (sum(depth - 1) + depth);
}

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRD = 0xff;
    for (;;) {
        PORTD = sum(PINB & DEEPEST);
    }
}
