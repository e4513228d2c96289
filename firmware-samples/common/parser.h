/* A protocol over the serial port: a length, as many bytes, and their sum. A message whose sum is right is handed to a
 * function whose address is stored behind the buffer. A sample defines CHECKED: without it a length over 16 overwrites
 * that address with received bytes.
 */
#include <avr/io.h>
#include <stdint.h>

#define LONGEST 16

static void show(void);

struct {
    volatile uint8_t payload[LONGEST];
    void (*volatile handle)(void);
} message = {{0}, show};

static void show(void)
{
    PORTB = message.payload[0] & 0x3f;
}

static uint8_t receive(void)
{
    while (!(UCSR0A & (1 << RXC0))) {
    }
    return UDR0;
}

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRB = 0x3f;
    UBRR0 = 8;
    UCSR0B = 1 << RXEN0;
    for (;;) {
        __asm__ volatile(".global loop_start\nloop_start:");
        uint8_t length = receive();
        uint8_t sum = 0;
#if CHECKED
        if (length > LONGEST) {
            continue;
        }
#endif
        for (uint8_t i = 0; i < length; i++) {
            uint8_t byte = receive();
            message.payload[i] = byte;
            sum += byte;
        }
        if (receive() == sum) {
            message.handle();
        }
    }
}
