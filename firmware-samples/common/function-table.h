/* Calls one of four functions through a table in SRAM. A sample defines MASK, the bits of port B that choose. */
#include <avr/io.h>
#include <stdint.h>

static void stop(void) { PORTD = 0; }
static void forward(void) { PORTD = 1; }
static void backward(void) { PORTD = 2; }
static void brake(void) { PORTD = 3; }

typedef void (*action)(void);
static action volatile actions[4] = {stop, forward, backward, brake};

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRD = 0xff;
    for (;;) {
        actions[PINB & MASK]();
    }
}
