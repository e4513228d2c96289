// Prints readings of the converter as decimal numbers: digits are written from the end of a local buffer, and sent through a virtual function, a ring
// buffer and an interrupt.
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>

class Printer {
public:
    virtual void write(uint8_t byte) = 0;

    void print(const char *text)
    {
        while (*text) {
            write(*text++);
        }
    }

    void print(uint32_t number, uint8_t base) __attribute__((noinline))
    {
        char digits[8 * sizeof number + 1];
        char *first = &digits[sizeof digits - 1];
        *first = 0;
        do {
            uint8_t digit = number % base;
            number /= base;
            *--first = digit < 10 ? '0' + digit : 'a' + digit - 10;
        } while (number);
        print(first);
    }
};

class Line : public Printer {
    static const uint8_t size = 16;
    volatile uint8_t head;
    volatile uint8_t tail;
    volatile uint8_t bytes[size];

public:
    void begin()
    {
        UBRR0 = 8;
        UCSR0B = 1 << TXEN0;
    }

    virtual void write(uint8_t byte) __attribute__((noinline))
    {
        uint8_t next = (head + 1) % size;
        while (next == tail) {
        }
        bytes[head] = byte;
        head = next;
        UCSR0B |= 1 << UDRIE0;
    }

    void sent()
    {
        UDR0 = bytes[tail];
        tail = (tail + 1) % size;
        if (tail == head) {
            UCSR0B &= ~(1 << UDRIE0);
        }
    }
};

static Line line;

ISR(USART_UDRE_vect)
{
    line.sent();
}

static uint16_t convert()
{
    ADMUX = 1 << REFS0;
    ADCSRA |= 1 << ADSC;
    while (ADCSRA & (1 << ADSC)) {
    }
    return ADC;
}

static void report(Printer &printer, uint32_t number) __attribute__((noinline));

static void report(Printer &printer, uint32_t number)
{
    printer.print(number, 10);
    printer.write('\n');
}

extern "C" void __cxa_pure_virtual()
{
    for (;;) {
    }
}

int main() __attribute__((OS_main));

int main()
{
    ADCSRA = (1 << ADEN) | 7;
    line.begin();
    sei();
    for (;;) {
        report(line, convert());
    }
}
