/* Commands over the serial interface, received in an interrupt: the line "L<digit>" puts the digit on PORTB. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>

#define LINE_SIZE 8

static volatile uint8_t line[LINE_SIZE];
static volatile uint8_t line_len;
static volatile uint8_t line_ready;

ISR(USART_RX_vect)
{
    uint8_t byte = UDR0;
    if (line_ready) {
        return;
    }
    if (byte == '\n') {
        line_ready = 1;
    } else if (line_len < LINE_SIZE) {
        line[line_len++] = byte;
    }
}

static void execute(void)
{
    uint8_t digit = line[1] - '0';
    if (line_len == 2 && line[0] == 'L' && digit < 10) {
        PORTB = digit;
    }
}

int main(void)
{
    DDRB = 0x3f;
    UBRR0 = 103;
    UCSR0B = 1 << RXCIE0 | 1 << RXEN0;
    sei();
    for (;;) {
        if (line_ready) {
            execute();
            line_len = 0;
            line_ready = 0;
        }
    }
}
