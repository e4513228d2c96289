/* An application for the boot loaders: the light at PB5 shows the key at PD2. It knows nothing of the watchdog. */
#include <avr/io.h>

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRB = 0x20;
    for (;;) {
        PORTB = PIND & 0x04 ? 0x20 : 0;
    }
}
