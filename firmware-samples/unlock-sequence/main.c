/* A lock that six bytes open, received in an interrupt. A wrong byte begins anew. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>

static const uint8_t secret[6] = {0x91, 0x17, 0xc3, 0x5e, 0x5e, 0xd8};
static volatile uint8_t matched;

ISR(USART_RX_vect)
{
    uint8_t byte = UDR0;
    matched = byte == secret[matched] ? matched + 1 : 0;
    if (matched == sizeof secret) {
        matched = 0;
        PORTB = 0x2a;
    }
}

int main(void)
{
    DDRB = 0x3f;
    UBRR0 = 103;
    UCSR0B = 1 << RXCIE0 | 1 << RXEN0;
    sei();
    for (;;) {
    }
}
