/* Commands over the serial line with a defect: after an unknown command an argument is awaited as well, and answered once
 * more. */
#include <avr/io.h>
#include <stdint.h>

#define ACKNOWLEDGED 0x06
#define REFUSED 0x15

static uint8_t receive(void)
{
    while (!(UCSR0A & _BV(RXC0))) {
    }
    return UDR0;
}

static void answer(uint8_t byte)
{
    while (!(UCSR0A & _BV(UDRE0))) {
    }
    UDR0 = byte;
}

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRB = 0x01;
    UBRR0 = 103;
    UCSR0B = _BV(RXEN0) | _BV(TXEN0);
    for (;;) {
        uint8_t command = receive();
        if (command > 1) {
            answer(REFUSED);
            /* No way back to the beginning. */
        }
        uint8_t argument = receive();
        if (argument & 0xfe) {
            answer(REFUSED);
            continue;
        }
        PORTB = (command == 0) ? argument : argument ^ 0x01;
        answer(ACKNOWLEDGED);
    }
}
