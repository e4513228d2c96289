/* A packet that is taken apart byte by byte in the receive interrupt: a start byte, a length, as many bytes, and their sum. What
 * keeps the index inside of the buffer is told by the state, the length and the index together. A function whose address is
 * stored behind the buffer is called for every packet. A sample defines CHECKED: without it a length over 24 overwrites that
 * address with received bytes.
 */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>

#define LONGEST 24
#define START 0x7e

enum { WAITING, STARTED, TAKING, SUMMING };

static volatile uint8_t state, length, at, sum, complete;

static struct {
    volatile uint8_t payload[LONGEST];
    void (*volatile handle)(void);
} packet;

static void show(void)
{
    PORTB = packet.payload[0] & 0x3f;
}

ISR(USART_RX_vect)
{
    uint8_t byte = UDR0;
    switch (state) {
    case WAITING:
        if (byte == START) {
            state = STARTED;
        }
        break;
    case STARTED:
#if CHECKED
        if (byte > LONGEST) {
            state = WAITING;
            break;
        }
#endif
        length = byte;
        at = 0;
        sum = 0;
        state = byte ? TAKING : SUMMING;
        break;
    case TAKING:
        packet.payload[at++] = byte;
        sum += byte;
        if (at >= length) {
            state = SUMMING;
        }
        break;
    case SUMMING:
        if (byte == sum) {
            complete = 1;
        }
        state = WAITING;
        break;
    }
}

int main(void) __attribute__((OS_main));

int main(void)
{
    packet.handle = show;
    DDRB = 0x3f;
    UBRR0 = 8;
    UCSR0B = 1 << RXEN0 | 1 << RXCIE0;
    sei();
    for (;;) {
        __asm__ volatile(".global loop_start\nloop_start:");
        if (complete) {
            complete = 0;
            packet.handle();
        }
    }
}
