/* Serial echo with a ring buffer and an interrupt in each direction. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>

#define SIZE 32

struct ring {
    volatile uint8_t head;
    volatile uint8_t tail;
    volatile uint8_t bytes[SIZE];
};

struct ring received;
struct ring to_send;

static uint8_t next(uint8_t index)
{
    return (index + 1) % SIZE;
}

ISR(USART_RX_vect)
{
    uint8_t byte = UDR0;
    uint8_t head = received.head;
    if (next(head) != received.tail) {
        received.bytes[head] = byte;
        received.head = next(head);
    }
}

ISR(USART_UDRE_vect)
{
    uint8_t tail = to_send.tail;
    UDR0 = to_send.bytes[tail];
    tail = next(tail);
    to_send.tail = tail;
    if (tail == to_send.head) {
        UCSR0B &= ~(1 << UDRIE0);
    }
}

static void send(uint8_t byte)
{
    uint8_t head = to_send.head;
    while (next(head) == to_send.tail) {
    }
    to_send.bytes[head] = byte;
    to_send.head = next(head);
    UCSR0B |= 1 << UDRIE0;
}

static int16_t receive(void)
{
    uint8_t tail = received.tail;
    if (tail == received.head) {
        return -1;
    }
    uint8_t byte = received.bytes[tail];
    received.tail = next(tail);
    return byte;
}

int main(void) __attribute__((OS_main));

int main(void)
{
    UCSR0A = 1 << U2X0; /* two million bits a second */
    UBRR0 = 0;
    UCSR0B = (1 << RXCIE0) | (1 << RXEN0) | (1 << TXEN0);
    sei();
    for (;;) {
        int16_t byte = receive();
        if (byte >= 0) {
            send((uint8_t)byte);
        }
    }
}
