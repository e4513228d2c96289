/* Three tasks that take turns: a light, a switch with debouncing, and a ramp for a dimmed lamp. Timer 0 counts time. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>

#define LIGHT (1 << 5)
#define SWITCH (1 << 2)

static volatile uint16_t ticks;

ISR(TIMER0_OVF_vect)
{
    ticks++;
}

static uint16_t now(void)
{
    uint8_t status = SREG;
    cli();
    uint16_t copy = ticks;
    SREG = status;
    return copy;
}

struct task {
    uint16_t started;
    uint16_t period;
    void (*run)(void);
};

uint8_t stable;
uint8_t level;

static void blink(void)
{
    PORTB ^= LIGHT;
}

static void read_switch(void)
{
    static uint8_t same_for;
    static uint8_t last;
    uint8_t sample = PIND & SWITCH;
    same_for = sample == last ? same_for + 1 : 0;
    last = sample;
    if (same_for >= 4) {
        same_for = 4;
        stable = sample;
    }
}

static void ramp(void)
{
    if (stable && level < 250) {
        level += 10;
    } else if (!stable && level >= 10) {
        level -= 10;
    }
    OCR2A = level;
}

static struct task tasks[] = {{0, 500, blink}, {0, 5, read_switch}, {0, 20, ramp}};

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRB = LIGHT;
    PORTD = SWITCH;
    TCCR0B = 1 << CS00;
    TIMSK0 = 1 << TOIE0;
    TCCR2A = (1 << COM2A1) | (1 << WGM20);
    TCCR2B = 1 << CS20;
    sei();
    for (;;) {
        for (uint8_t i = 0; i < sizeof tasks / sizeof tasks[0]; i++) {
            uint16_t time = now();
            if ((uint16_t)(time - tasks[i].started) >= tasks[i].period) {
                tasks[i].started = time;
                tasks[i].run();
            }
        }
    }
}
