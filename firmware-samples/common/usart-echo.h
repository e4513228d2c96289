/* The serial port echoes what it receives through a ring buffer of 16 bytes that the receive handler fills.
 *
 * A sample defines OFF_BY_ONE: with 1 the handler wraps its index one place too late and so writes past the buffer,
 * where `guard` lies, which nothing else ever writes.
 */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>

#define SIZE 16
#define LAST (SIZE - 1 + OFF_BY_ONE)

struct {
    volatile uint8_t bytes[SIZE];
    volatile uint8_t guard;
} ring __attribute__((nocommon));

/* A name for the field, so that a property can use it. */
__asm__(".global guard\n.set guard, ring + 16\n.type guard, @object\n.size guard, 1");

volatile uint8_t head;
volatile uint8_t tail;

ISR(USART_RX_vect)
{
    uint8_t received = UDR0;
    uint8_t next = head >= LAST ? 0 : head + 1;
    if (next != tail) {
        ring.bytes[head] = received;
        head = next;
    }
}

int main(void) __attribute__((OS_main));

int main(void)
{
    UBRR0 = 8;
    UCSR0B = (1 << RXCIE0) | (1 << RXEN0) | (1 << TXEN0);
    sei();
    for (;;) {
        if (head == tail) {
            continue;
        }
        uint8_t byte = ring.bytes[tail];
        tail = tail >= LAST ? 0 : tail + 1;
        while (!(UCSR0A & (1 << UDRE0))) {
        }
        __asm__ volatile(".global echoing\nechoing:");
        UDR0 = byte;
    }
}
