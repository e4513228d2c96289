// Prints converted voltages as decimal numbers through a virtual function, as printing classes do.
#include <avr/io.h>
#include <stdint.h>

class Printer {
public:
    virtual void write(uint8_t byte) = 0;

    void print(uint16_t number)
    {
        uint8_t digits[5];
        uint8_t count = 0;
        do {
            digits[count++] = '0' + number % 10;
            number /= 10;
        } while (number != 0);
        while (count != 0) {
            write(digits[--count]);
        }
    }
};

class Serial : public Printer {
public:
    void begin()
    {
        UBRR0 = 8;
        UCSR0B = 1 << TXEN0;
    }

    virtual void write(uint8_t byte)
    {
        while (!(UCSR0A & (1 << UDRE0))) {
        }
        UDR0 = byte;
    }
};

class Shown : public Printer {
public:
    virtual void write(uint8_t byte) { PORTD = byte; }
};

static Serial serial;
static Shown shown;
static Printer *volatile printers[] = {&serial, &shown};

static uint16_t convert(uint8_t channel)
{
    ADMUX = (1 << REFS0) | channel;
    ADCSRA |= 1 << ADSC;
    while (ADCSRA & (1 << ADSC)) {
    }
    return ADC;
}

extern "C" void __cxa_pure_virtual()
{
    for (;;) {
    }
}

int main() __attribute__((OS_main));

int main()
{
    DDRD = 0xff;
    ADCSRA = (1 << ADEN) | 7;
    serial.begin();
    for (;;) {
        uint16_t voltage = convert(0);
        Printer *printer = printers[PINB & 1];
        printer->print(voltage);
        printer->write('\n');
    }
}
