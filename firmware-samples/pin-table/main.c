/* Counts presses of four buttons, some of which have no counter: 255 in the table. A function whose address lies behind the counters is
   called after each. */
#include <avr/io.h>
#include <stdint.h>

#define NONE 255

static volatile uint8_t counter_of[4] = {3, NONE, 8, NONE};

static struct {
    volatile uint8_t counts[9];
    void (*volatile counted)(void);
} presses;

static void show(void)
{
    PORTD = presses.counts[8];
}

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRD = 0xff;
    presses.counted = show;
    for (;;) {
        uint8_t counter = counter_of[PINB & 3];
        if (counter != NONE) {
            presses.counts[counter]++;
            presses.counted();
        }
    }
}
