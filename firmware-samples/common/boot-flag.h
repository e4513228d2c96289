/* A boot loader in the boot section. It goes on to the application at address 0 after any reset but an external one, if the mark in
 * the first byte of the EEPROM says that the application is whole. Else it waits for the key at PD2, under the watchdog, and is
 * reset if the key does not come.
 *
 * A sample defines STOP_WATCHDOG(): an application that knows nothing of the watchdog is reset by it.
 */
#include <avr/io.h>
#include <stdint.h>

#define MARK 0xa5

static inline uint8_t mark(void)
{
    EEAR = 0;
    EECR = 1 << EERE;
    return EEDR;
}

int main(void) __attribute__((OS_main));

int main(void)
{
    uint8_t causes = MCUSR;
    MCUSR = 0;
    WDTCSR = 1 << WDCE | 1 << WDE;
    WDTCSR = 1 << WDE | 1 << WDP2 | 1 << WDP1;
    if ((causes & 1 << EXTRF) || mark() != MARK) {
        DDRB = 0x20;
        PORTB = 0x20;
        while (!(PIND & 0x04)) {
        }
        PORTB = 0;
        DDRB = 0;
    }
    STOP_WATCHDOG();
    asm volatile("jmp 0");
    __builtin_unreachable();
}
