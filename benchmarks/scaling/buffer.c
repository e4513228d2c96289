/* A ring buffer of N bytes, a power of two up to 256, that an interrupt fills from the USART and the main loop empties to
 * port D. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>

volatile uint8_t head;
volatile uint8_t tail;
volatile uint8_t bytes[N];

static uint8_t next(uint8_t index)
{
    return (index + 1) % N;
}

ISR(USART_RX_vect)
{
    uint8_t byte = UDR0;
    uint8_t at = head;
    if (next(at) != tail) {
        bytes[at] = byte;
        head = next(at);
    }
}

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRD = 0xff;
    UCSR0B = (1 << RXCIE0) | (1 << RXEN0);
    sei();
    for (;;) {
        uint8_t at = tail;
        if (at != head) {
            PORTD = bytes[at];
            tail = next(at);
        }
    }
}
