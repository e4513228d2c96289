/* A recursion as deep as an input says, up to N, which is a power of two less one: the sum of the numbers up to it. */
#include <avr/io.h>
#include <stdint.h>

static uint8_t __attribute__((noinline)) sum(uint8_t n)
{
    if (n == 0) {
        return 0;
    }
    return n + sum(n - 1);
}

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRD = 0xff;
    for (;;) {
        PORTD = sum(PINB & N);
    }
}
