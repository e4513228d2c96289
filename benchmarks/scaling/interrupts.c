/* N sources of interrupts, 0 to 5, that count in variables of their own, and a main loop that shows the sum of the counts. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>

volatile uint8_t counts[5];

ISR(INT0_vect) { counts[0]++; }
ISR(PCINT0_vect) { counts[1] += PINB; }
ISR(TIMER0_OVF_vect) { counts[2]++; }
ISR(USART_RX_vect) { counts[3] = UDR0; }
ISR(ADC_vect) { counts[4] = ADCH; }

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRD = 0xf0;
    if (N > 0) {
        EICRA = 1 << ISC00;
        EIMSK = 1 << INT0;
    }
    if (N > 1) {
        PCMSK0 = 0xff;
        PCICR = 1 << PCIE0;
    }
    if (N > 2) {
        TIMSK0 = 1 << TOIE0;
        TCCR0B = 1 << CS00;
    }
    if (N > 3) {
        UCSR0B = (1 << RXCIE0) | (1 << RXEN0);
    }
    if (N > 4) {
        ADMUX = 1 << ADLAR;
        ADCSRA = (1 << ADEN) | (1 << ADATE) | (1 << ADIE) | (1 << ADSC);
    }
    sei();
    for (;;) {
        uint8_t sum = 0;
        for (uint8_t i = 0; i < 5; i++) {
            sum += counts[i];
        }
        PORTD = sum;
    }
}
