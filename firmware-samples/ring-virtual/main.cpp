// Echoes bytes through a stream class with virtual functions: the receive interrupt puts them into a ring buffer.
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>

class Stream {
public:
    virtual int available() = 0;
    virtual int read() = 0;
    virtual void write(uint8_t byte) = 0;
};

class Port : public Stream {
public:
    void begin()
    {
        UBRR0 = 8;
        UCSR0B = 1 << RXEN0 | 1 << TXEN0 | 1 << RXCIE0;
    }

    void received(uint8_t byte)
    {
        uint8_t next = (head + 1) % sizeof bytes;
        if (next != tail) {
            bytes[head] = byte;
            head = next;
        }
    }

    virtual int available() { return (uint8_t)(sizeof bytes + head - tail) % sizeof bytes; }

    virtual int read()
    {
        if (head == tail) {
            return -1;
        }
        uint8_t byte = bytes[tail];
        tail = (tail + 1) % sizeof bytes;
        return byte;
    }

    virtual void write(uint8_t byte)
    {
        while (!(UCSR0A & (1 << UDRE0))) {
        }
        UDR0 = byte;
    }

private:
    volatile uint8_t head, tail;
    uint8_t bytes[32];
};

static Port port;
static Stream *volatile stream = &port;

ISR(USART_RX_vect)
{
    port.received(UDR0);
}

extern "C" void __cxa_pure_virtual()
{
    for (;;) {
    }
}

int main() __attribute__((OS_main));

int main()
{
    port.begin();
    sei();
    for (;;) {
        Stream *from = stream;
        while (from->available() > 0) {
            from->write(from->read());
        }
    }
}
