/* A word that memory holds by chance, one result of the converter, and one pattern of the pins, one after the other. */
#include <avr/io.h>
#include <stdint.h>

#define MAGIC 0xc3b5
#define LEVEL 0x02d7
#define PATTERN 0x8e

static volatile uint16_t magic __attribute__((section(".noinit")));

static uint16_t convert(void)
{
    ADCSRA |= 1 << ADSC;
    while (ADCSRA & (1 << ADSC)) {
    }
    return ADC;
}

int main(void)
{
    DDRB = 0x3f;
    ADMUX = 1 << REFS0;
    ADCSRA = 1 << ADEN | 7;
    if (magic == MAGIC) {
        while (convert() != LEVEL) {
        }
        for (;;) {
            if (PIND == PATTERN) {
                PORTB = 0x2a;
            }
        }
    }
    for (;;) {
    }
}
