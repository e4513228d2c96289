/* A light that blinks: after each change N rounds of a loop that only counts, as delays do. */
#include <avr/io.h>
#include <stdint.h>

static void __attribute__((noinline)) delay(void)
{
    uint32_t left = N;
    /* The counter has four bytes whatever N is. */
    __asm__ volatile("" : "+r"(left));
    while (left > 0) {
        __asm__ volatile("nop");
        left--;
    }
}

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRB = 0x20;
    for (;;) {
        PORTB ^= 0x20;
        delay();
    }
}
