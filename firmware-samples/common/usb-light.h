/* A light at pin 0 of port B of an ATmega32U4, which the host switches through USB: the first byte of a packet at endpoint 0 is 0 or 1. With
 * CHECKED others switch it off. When the host resets the bus the light goes off.
 */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>

static volatile uint8_t light;

ISR(USB_GEN_vect)
{
    UDINT = 0;
    light = 0;
}

ISR(USB_COM_vect)
{
    UENUM = 0;
    uint8_t received = UEDATX;
#ifdef CHECKED
    if (received > 1) {
        received = 0;
    }
#endif
    light = received;
    UEINTX = (uint8_t)~(1 << RXOUTI);
}

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRB = 3;
    UHWCON = 1 << UVREGE;
    USBCON = 1 << USBE | 1 << FRZCLK;
    PLLCSR = 1 << PINDIV | 1 << PLLE;
    while (!(PLLCSR & 1 << PLOCK)) {
    }
    USBCON = 1 << USBE | 1 << OTGPADE;
    UDCON = 0;
    UDIEN = 1 << EORSTE;
    UENUM = 0;
    UECONX = 1 << EPEN;
    UECFG1X = 1 << EPSIZE1 | 1 << ALLOC;
    UEIENX = 1 << RXOUTE;
    sei();
    for (;;) {
        PORTB = light;
    }
}
