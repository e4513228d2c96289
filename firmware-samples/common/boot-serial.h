/* A boot loader in the boot section. It goes on to the application at address 0 when the pin PD2 is high, when no 'b' came over the
 * serial line in time, or when it is told so by a 'q'. Until then it answers what it receives.
 *
 * A sample defines IS_APPLICATION_THERE(): where the first word of the flash is erased, there is nothing to go on to.
 */
#include <avr/io.h>
#include <avr/pgmspace.h>
#include <stdint.h>

#define LOOKS 20

static inline void go_on(void)
{
    if (IS_APPLICATION_THERE()) {
        UCSR0B = 0;
        asm volatile("jmp 0");
    }
}

static inline uint8_t received(void)
{
    while (!(UCSR0A & (1 << RXC0))) {
    }
    return UDR0;
}

int main(void) __attribute__((OS_main));

int main(void)
{
    if (PIND & 0x04) {
        go_on();
    }
    UCSR0B = 1 << RXEN0 | 1 << TXEN0;
    uint8_t looks = LOOKS;
    while (!(UCSR0A & (1 << RXC0)) && looks) {
        looks--;
    }
    if (!looks) {
        go_on();
    }
    for (;;) {
        uint8_t command = received();
        if (command == 'q') {
            go_on();
        }
        UDR0 = command;
    }
}
