/* A meter with two lights on port L, of which the address needs more than a byte. The converter measures at its channel 8 all the time, and
 * its handler keeps the two highest bits of each result. What lights go on is said by a scale behind the first 128 KiB of the flash, which is
 * called through a pointer. While a button at pin 0 of port B is pressed, the lights are kept in the last cell of the EEPROM. The reversed
 * scale shows 0 at LAST_STEP.
 */
#include <avr/eeprom.h>
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>

#define LAST_CELL ((uint8_t *)E2END)
#define FAR __attribute__((noinline, section(".far")))

static FAR uint8_t steps(uint8_t level)
{
    return level;
}

static FAR uint8_t reversed(uint8_t level)
{
    return LAST_STEP - level;
}

static uint8_t (*volatile scale)(uint8_t) = steps;
static volatile uint8_t level;

ISR(ADC_vect)
{
    level = ADCH >> 6;
}

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRL = 3;
    ADMUX = 1 << REFS0 | 1 << ADLAR;
    ADCSRB = 1 << MUX5;
    ADCSRA = 1 << ADEN | 1 << ADSC | 1 << ADATE | 1 << ADIE;
    if (PINB & 2) {
        scale = reversed;
    }
    sei();
    for (;;) {
        uint8_t lights = scale(level);
        PORTL = lights;
        if (PINB & 1) {
            eeprom_update_byte(LAST_CELL, lights);
        }
    }
}
