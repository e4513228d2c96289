/* The factorial of an input, modulo 256, by recursion. A sample defines MASK, the bits of port B that are used. */
#include <avr/io.h>
#include <stdint.h>

static uint8_t __attribute__((noinline)) factorial(uint8_t n)
{
    if (n == 0) {
        return 1;
    }
    return n * factorial(n - 1);
}

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRD = 0xff;
    for (;;) {
        PORTD = factorial(PINB & MASK);
        __asm__ volatile(".global result_shown\nresult_shown:");
    }
}
