/* Collects as many pairs of bytes as the low three bits of port B say in a local buffer of 8 bytes. A sample defines
 * LIMITED: without it up to 14 bytes are written, over the saved registers and the return addresses.
 */
#include <avr/io.h>
#include <stdint.h>

#define SIZE 8

static uint8_t __attribute__((noinline)) collect(uint8_t length)
{
    volatile uint8_t bytes[SIZE];
#if LIMITED
    if (length > SIZE) {
        length = SIZE;
    }
#endif
    for (uint8_t i = 0; i < length; i++) {
        bytes[i] = PINC;
    }
    return bytes[0];
}

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRD = 0xff;
    for (;;) {
        PORTD = collect((PINB & 0x07) * 2);
    }
}
