/* The lock of a driver with a defect: only packets with bit 1 are counted, so after the others the lock is given back twice. */
#include <avr/io.h>
#include <stdint.h>

volatile uint8_t held;

void __attribute__((noinline)) lock(void)
{
    held = 1;
}

void __attribute__((noinline)) unlock(void)
{
    held = 0;
}

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRD = 0xff;
    for (;;) {
        uint8_t packets = 0;
        uint8_t before;
        do {
            lock();
            before = packets;
            if (PINB & 0x01) {
                unlock();
                if (PINB & 0x02) {
                    packets++;
                }
            }
        } while (packets != before);
        unlock();
        PORTD ^= 0x01;
    }
}
