// A word is looked up among 72 codes. Then a level that is not the alarm is asked once more behind a loop.
#include <avr/io.h>
#include <stdint.h>

#define ALARM 1000
#ifndef IS_ALARM
#define IS_ALARM (level == ALARM)
#endif

volatile uint16_t code __attribute__((section(".noinit")));
volatile uint16_t level __attribute__((section(".noinit")));

#define LOOK_UP(number)                                                                                                \
    if (code == 1000 + 37 * (number)) {                                                                                \
        PORTC = (number);                                                                                              \
    }
#define LOOK_UP_8(number)                                                                                              \
    LOOK_UP(number) LOOK_UP(number + 1) LOOK_UP(number + 2) LOOK_UP(number + 3) LOOK_UP(number + 4)                    \
    LOOK_UP(number + 5) LOOK_UP(number + 6) LOOK_UP(number + 7)

int main(void)
{
    DDRB = _BV(DDB0);
    DDRC = 0x3f;
    for (;;) {
        LOOK_UP_8(0) LOOK_UP_8(8) LOOK_UP_8(16) LOOK_UP_8(24) LOOK_UP_8(32) LOOK_UP_8(40) LOOK_UP_8(48) LOOK_UP_8(56)
        LOOK_UP_8(64)
        if (level != ALARM) {
            for (uint8_t left = PIND; left > 0; left--) {
                PORTC = left;
            }
            if (IS_ALARM) {
                PORTB = 0x2a;
            }
        }
        if (PIND == 7) {
            level += 3;
        }
        if (PIND == 9) {
            code -= 5;
        }
    }
}
