/* Frames over the serial interface, without interrupts: a start byte, four bytes of payload and two of a checksum. One command
 * with one argument switches PORTB. */
#include <avr/io.h>
#include <stdint.h>

#define START 0x7e
#define COMMAND 0x93
#define ARGUMENT 0xb4

static uint8_t receive(void)
{
    while (!(UCSR0A & (1 << RXC0))) {
    }
    return UDR0;
}

int main(void)
{
    uint8_t payload[4];
    DDRB = 0x3f;
    UBRR0 = 103;
    UCSR0B = 1 << RXEN0;
    for (;;) {
        uint8_t sum = 0, weighted = 0;
        if (receive() != START) {
            continue;
        }
        for (uint8_t index = 0; index < sizeof payload; index++) {
            payload[index] = receive();
            sum += payload[index];
            weighted += sum;
        }
        if (receive() != sum || receive() != weighted) {
            continue;
        }
        if (payload[0] == COMMAND && payload[1] == ARGUMENT) {
            PORTB = 0x2a;
        }
    }
}
