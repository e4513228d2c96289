/* A light that changes after delays: counters of 8, 16 and 32 bits in registers and in memory, up and down, in steps of
   one and of more, and delay functions of avr-libc around and inside them. */
#define F_CPU 16000000UL
#include <avr/io.h>
#include <stdint.h>
#include <util/delay.h>
#include <util/delay_basic.h>

#define PAUSE() __asm__ volatile("nop")

volatile uint16_t rounds;
volatile uint32_t many_rounds;

static void toggle(void)
{
    PORTB ^= 1 << 5;
}

__attribute__((noinline)) static void wait_ms(uint16_t ms)
{
    while (ms--) {
        _delay_ms(1);
    }
}

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRB = 1 << 5;
    for (;;) {
        toggle();
        for (uint8_t i = 0; i < 200; i += 3) {
            PAUSE();
        }
        toggle();
        for (uint16_t i = 50000; i > 0; i--) {
            PAUSE();
        }
        toggle();
        for (uint32_t i = 0; i < 1000000; i += 5) {
            PAUSE();
        }
        toggle();
        for (rounds = 0; rounds < 50000; rounds++) {
        }
        toggle();
        for (many_rounds = 1000000; many_rounds; many_rounds--) {
        }
        toggle();
        for (uint8_t i = 0; i < 100; i++) {
            _delay_ms(10);
        }
        toggle();
        _delay_loop_2(0);
        wait_ms(500);
        toggle();
        for (uint8_t i = 0; i < 100; i++) {
            for (uint16_t j = 0; j < 20000; j++) {
                PAUSE();
            }
        }
    }
}
