/* Sends one of several texts: its length is counted, and it is copied between a header and a sum. */
#include <avr/io.h>
#include <stdint.h>
#include <string.h>

#define LONGEST 16

static const char *const texts[] = {"ready", "measuring", "door is open", "off"};
static uint8_t packet[LONGEST + 2];

static void send(const uint8_t *bytes, uint8_t count)
{
    while (count--) {
        while (!(UCSR0A & (1 << UDRE0))) {
        }
        UDR0 = *bytes++;
    }
}

int main(void) __attribute__((OS_main));

int main(void)
{
    UBRR0 = 8;
    UCSR0B = 1 << TXEN0;
    for (;;) {
        const char *text = texts[PINB & 3];
        size_t length = strlen(text);
        packet[0] = length;
        memcpy(packet + 1, text, length);
        uint8_t sum = 0;
        for (uint8_t i = 0; i <= length; i++) {
            sum += packet[i];
        }
        packet[length + 1] = sum;
        send(packet, length + 2);
    }
}
