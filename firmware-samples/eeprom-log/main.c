/* Every change of port D is appended to a log of 64 bytes in the EEPROM, which wraps at its end. */
#include <avr/io.h>
#include <stdint.h>

#define LOG_SIZE 64

static void __attribute__((noinline)) append(uint8_t address, uint8_t value)
{
    while (EECR & (1 << EEPE)) {
    }
    EEARH = 0;
    EEARL = address;
    EEDR = value;
    __asm__ volatile(".global programming\nprogramming:");
    EECR |= 1 << EEMPE;
    EECR |= 1 << EEPE;
}

int main(void) __attribute__((OS_main));

int main(void)
{
    uint8_t logged = 0;
    uint8_t end = 0;
    for (;;) {
        uint8_t now = PIND;
        if (now == logged) {
            continue;
        }
        append(end, now);
        logged = now;
        end = (end + 1) % LOG_SIZE;
    }
}
