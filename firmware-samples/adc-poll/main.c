/* A light on bit 0 of port B that shows with hysteresis whether the voltage at channel 0 is high. */
#include <avr/io.h>
#include <stdint.h>

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRB = 1;
    ADMUX = 1 << REFS0;
    ADCSRA = (1 << ADEN) | 7;
    for (;;) {
        __asm__ volatile(".global loop_start\nloop_start:");
        ADCSRA |= 1 << ADSC;
        while (ADCSRA & (1 << ADSC)) {
        }
        uint16_t voltage = ADC;
        if (voltage > 600) {
            PORTB |= 1;
        } else if (voltage < 400) {
            PORTB &= ~1;
        }
    }
}
