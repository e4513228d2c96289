/* Receives bytes on a pin: the start bit raises a pin-change interrupt, whose handler samples the eight data bits. */
#define F_CPU 16000000UL
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>
#include <util/delay_basic.h>

#define RECEIVE (1 << 3)
#define SIZE 16
#define BIT_TIME 416 /* loops of 4 cycles: 9600 bits a second */

volatile uint8_t bytes[SIZE];
volatile uint8_t head;
volatile uint8_t tail;

ISR(PCINT2_vect)
{
    if (PIND & RECEIVE) {
        return;
    }
    _delay_loop_2(BIT_TIME / 2);
    uint8_t byte = 0;
    for (uint8_t i = 0; i < 8; i++) {
        _delay_loop_2(BIT_TIME);
        byte >>= 1;
        if (PIND & RECEIVE) {
            byte |= 0x80;
        }
    }
    uint8_t next = (head + 1) % SIZE;
    if (next != tail) {
        bytes[head] = byte;
        head = next;
    }
    PCIFR = 1 << PCIF2;
}

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRB = 0x3f;
    PCMSK2 = RECEIVE;
    PCICR = 1 << PCIE2;
    sei();
    for (;;) {
        if (head != tail) {
            PORTB = bytes[tail] & 0x3f;
            tail = (tail + 1) % SIZE;
        }
    }
}
