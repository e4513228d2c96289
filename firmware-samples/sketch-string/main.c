/* Builds a string on the heap, byte by byte, from what the serial port receives, and sends it back at each line end. */
#include <avr/io.h>
#include <stdint.h>
#include <stdlib.h>

#define LONGEST 32

struct text {
    char *bytes;
    uint8_t length;
    uint8_t capacity;
};

static uint8_t append(struct text *text, char byte)
{
    if (text->length == text->capacity) {
        uint8_t capacity = text->capacity + 8;
        char *bytes = capacity > LONGEST ? NULL : realloc(text->bytes, capacity);
        if (!bytes) {
            return 0;
        }
        text->bytes = bytes;
        text->capacity = capacity;
    }
    text->bytes[text->length++] = byte;
    return 1;
}

static char receive(void)
{
    while (!(UCSR0A & (1 << RXC0))) {
    }
    return UDR0;
}

static void send(char byte)
{
    while (!(UCSR0A & (1 << UDRE0))) {
    }
    UDR0 = byte;
}

int main(void) __attribute__((OS_main));

int main(void)
{
    UBRR0 = 8;
    UCSR0B = (1 << RXEN0) | (1 << TXEN0);
    for (;;) {
        struct text line = {NULL, 0, 0};
        char byte;
        while ((byte = receive()) != '\n') {
            append(&line, byte);
        }
        for (uint8_t i = 0; i < line.length; i++) {
            send(line.bytes[i]);
        }
        send('\n');
        free(line.bytes);
    }
}
