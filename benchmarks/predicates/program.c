/*
 * Branches that are correlated: what is compared once is compared again, in a program where values are too many to be told apart.
 *
 * BITS    the width of the numbers: 8, 16, 32; 1 for a flag, which is true where a pin is equal to a bit that is stored
 * HELD    where the numbers are: IN_MEMORY (volatile) or IN_REGISTERS
 * SHAPE   twice:      if (x != 1) if (x == 1) error()
 *         order:      if (x < y) if (x >= y) error()
 *         signed:     the same with a sign
 *         loop:       x == 1, a loop with as many rounds as pins say, x != 1
 *         interrupt:  twice, beside a handler that counts
 *         changed:    twice, but x may be another number in between: error() is reached
 */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>

#define IN_MEMORY 1
#define IN_REGISTERS 2
#define TWICE 1
#define ORDER 2
#define SIGNED 3
#define LOOP 4
#define INTERRUPT 5
#define CHANGED 6

#if SHAPE == SIGNED
#define KIND int
#else
#define KIND uint
#endif
#define JOINED(kind, bits) kind##bits##_t
#define TYPE_OF(kind, bits) JOINED(kind, bits)
#if BITS == 1
typedef TYPE_OF(KIND, 8) number;
#else
typedef TYPE_OF(KIND, BITS) number;
#endif

volatile number stored __attribute__((section(".noinit")));
volatile number other __attribute__((section(".noinit")));
volatile uint8_t ticks;

/* The compiler is not to conclude anything from the first comparison. */
#define FORGET(x) __asm__ volatile("" : "+r"(x));

#if HELD == IN_MEMORY
#define x stored
#define y other
#define AGAIN()
#else
#define AGAIN() FORGET(x) FORGET(y)
#endif

#if SHAPE == INTERRUPT
ISR(TIMER0_OVF_vect)
{
    ticks++;
}
#endif

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRB = 0x3f;
#if SHAPE == INTERRUPT
    TIMSK0 = 1;
    TCCR0B = 1;
    sei();
#endif
    for (;;) {
#if HELD == IN_REGISTERS
        number x = stored, y = other;
        AGAIN();
#endif
#if BITS == 1
        if ((PINB & 1) == stored) {
#if SHAPE == LOOP
            for (uint8_t left = PIND; left > 0; left--) {
                PORTC = left;
            }
#endif
#if SHAPE == CHANGED
            stored ^= PINC;
#endif
            if (stored > 1) {
                PORTB = 0x2a;
            }
        }
#elif SHAPE == ORDER || SHAPE == SIGNED
        if (x < y) {
            AGAIN();
            if (x >= y) {
                PORTB = 0x2a;
            }
        }
#elif SHAPE == LOOP
        if (x == 1) {
            AGAIN();
            for (uint8_t left = PIND; left > 0; left--) {
                PORTC = left;
            }
            AGAIN();
            if (x != 1) {
                PORTB = 0x2a;
            }
        }
#else
        if (x != 1) {
            AGAIN();
#if SHAPE == CHANGED
            x += PIND;
            AGAIN();
#endif
            if (x == 1) {
                PORTB = 0x2a;
            }
        }
#endif
        /* The number does not stay what it was. */
        if (PIND == 7) {
            stored++;
            other += 3;
        }
    }
}
