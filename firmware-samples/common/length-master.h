/* Packets from a master come by the serial port: the length of the data first, then the data. The master sends four bytes at
 * most, and the firmware relies on it.
 *
 * A sample defines ROOM, the bytes that there is room for. With fewer than four, the last ones go to `guard`, which nothing
 * else ever writes.
 */
#include <avr/io.h>
#include <stdint.h>

struct {
    volatile uint8_t bytes[ROOM];
    volatile uint8_t guard;
} packet __attribute__((nocommon));

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

/* A name for the field, so that a property can use it. */
__asm__(".global guard\n.set guard, packet + " TEXT(ROOM) "\n.type guard, @object\n.size guard, 1");

static uint8_t received(void)
{
    while (!(UCSR0A & (1 << RXC0))) {
    }
    return UDR0;
}

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRB = 0x01;
    UCSR0B = 1 << RXEN0;
    for (;;) {
        uint8_t length = received();
        for (uint8_t at = 0; at < length; at++) {
            packet.bytes[at] = received();
        }
        PORTB ^= 0x01;
    }
}
