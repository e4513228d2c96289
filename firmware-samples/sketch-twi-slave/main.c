/* A slave of the two-wire bus with sixteen registers: the first byte written selects one, further bytes are stored
 * from there on, and reads give the contents from there on.
 */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>
#include <util/twi.h>

#define REGISTERS 16
#define ADDRESS 0x42

volatile uint8_t registers[REGISTERS];
static uint8_t selected;
static uint8_t selecting;

#define CONTINUE ((1 << TWINT) | (1 << TWEN) | (1 << TWIE) | (1 << TWEA))

ISR(TWI_vect)
{
    switch (TW_STATUS) {
    case TW_SR_SLA_ACK:
        selecting = 1;
        break;
    case TW_SR_DATA_ACK:
        if (selecting) {
            selected = TWDR % REGISTERS;
            selecting = 0;
        } else {
            registers[selected] = TWDR;
            selected = (selected + 1) % REGISTERS;
        }
        break;
    case TW_ST_SLA_ACK:
    case TW_ST_DATA_ACK:
        TWDR = registers[selected];
        selected = (selected + 1) % REGISTERS;
        break;
    case TW_BUS_ERROR:
        TWCR = CONTINUE | (1 << TWSTO);
        return;
    }
    TWCR = CONTINUE;
}

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRB = 0x3f;
    TWAR = ADDRESS << 1;
    TWCR = (1 << TWEN) | (1 << TWIE) | (1 << TWEA);
    sei();
    for (;;) {
        PORTB = registers[0] & 0x3f;
    }
}
