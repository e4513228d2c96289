/* A meter with two lights on port D. The converter measures all the time, and its handler keeps the two highest bits of each
 * result. While a button at pin 0 of port B is pressed, the level is kept in the last cell of the EEPROM.
 */
#include <avr/eeprom.h>
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>

#define LAST_CELL ((uint8_t *)E2END)

static volatile uint8_t level;

ISR(ADC_vect)
{
    level = ADCH >> 6;
}

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRD = 3;
    ADMUX = 1 << REFS0 | 1 << ADLAR;
    ADCSRA = 1 << ADEN | 1 << ADSC | 1 << ADATE | 1 << ADIE;
    sei();
    for (;;) {
        uint8_t lights = level;
        PORTD = lights;
        if (PINB & 1) {
            eeprom_update_byte(LAST_CELL, lights);
        }
    }
}
