/* Messages that the main loop reads from the ring buffer of a receive interrupt into a buffer on the stack: a length and as many
 * bytes. A sample defines CHECKED: without it a length over 20 overwrites what lies behind the buffer on the stack.
 */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>

#define RING 32
#define LONGEST 20

static volatile uint8_t ring[RING];
static volatile uint8_t head, tail;

ISR(USART_RX_vect)
{
    uint8_t byte = UDR0;
    uint8_t next = (head + 1) % RING;
    if (next != tail) {
        ring[head] = byte;
        head = next;
    }
}

static uint8_t receive(void)
{
    while (head == tail) {
    }
    uint8_t byte = ring[tail];
    tail = (tail + 1) % RING;
    return byte;
}

static void show(const uint8_t *bytes, uint8_t length)
{
    uint8_t sum = 0;
    for (uint8_t i = 0; i < length; i++) {
        sum ^= bytes[i];
    }
    PORTB = sum & 0x3f;
}

static void message(void)
{
    uint8_t buffer[LONGEST];
    uint8_t length = receive();
#if CHECKED
    if (length > sizeof buffer) {
        return;
    }
#endif
    for (uint8_t i = 0; i < length; i++) {
        buffer[i] = receive();
    }
    show(buffer, length);
}

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRB = 0x3f;
    UBRR0 = 8;
    UCSR0B = 1 << RXEN0 | 1 << RXCIE0;
    sei();
    for (;;) {
        __asm__ volatile(".global loop_start\nloop_start:");
        message();
    }
}
