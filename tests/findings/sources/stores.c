// Stores through pointers, one way for each value of CASE.
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>

uint8_t first[8];
uint8_t second[8];
volatile uint8_t tick;

#if CASE == 1 // an index that stays inside
#define MAIN first[PINB & 7] = PIND;
#elif CASE == 2 // an index that is too high by one
#define MAIN                \
    uint8_t index = PINB;   \
    if (index <= 8)         \
        first[index] = PIND;
#elif CASE == 3 // a pointer with two origins
#define MAIN                                  \
    uint8_t *to = PINB & 1 ? first : second;  \
    to[PIND & 7] = 1;
#elif CASE == 4 // a pointer through memory
uint8_t *volatile kept = first;
#define MAIN *kept = PIND;
#elif CASE == 5 // an object in the frame
__attribute__((noinline)) static uint8_t frame(uint8_t index) {
    volatile uint8_t local[8] = {0};
    local[index & 7] = 1;
    return local[PINC & 7];
}
#define MAIN PORTB = frame(PIND);
#elif CASE == 6 || CASE == 7 // a function with a pointer: always to the same object, and to two of them
__attribute__((noinline)) static void fill(uint8_t *to, uint8_t value) {
    for (uint8_t count = 0; count < 8; count++)
        *to++ = value;
}
#define MAIN fill(first, PIND); OTHER
#if CASE == 6
#define OTHER
#else
#define OTHER fill(second, PINB);
#endif
#elif CASE == 8 || CASE == 9 // a handler with an index that wraps, and one that does not
static uint8_t head;
ISR(TIMER0_OVF_vect) {
    first[head] = PIND;
#if CASE == 8
    head = (head + 1) & 7;
#else
    head = (head + 1) & 15;
#endif
}
#define MAIN tick = 1;
#elif CASE == 10 // a loop that goes down from behind the object
#define MAIN                                   \
    for (uint8_t *to = first + 8; to > first;) \
        *--to = PIND;
#elif CASE == 11 // a call through a pointer
static void low(void) { first[PIND & 7] = 0; }
static void high(void) { first[PIND & 7] = 1; }
void (*volatile chosen)(void) = low;
#define MAIN               \
    if (PINB & 1)          \
        chosen = high;     \
    chosen();
#elif CASE == 12 // an array of words with an index from memory
uint16_t words[6];
#define MAIN             \
    tick = PINB;         \
    uint8_t at = tick;   \
    if (at < 6)          \
        words[at] = 500;
#elif CASE == 13 // the address of another object, from a function that is called
__attribute__((noinline)) static uint8_t *choose(void) { return PINB & 1 ? first : second; }
#define MAIN *choose() = 1;
#elif CASE == 14 // a pointer that is stepped from one object into the next
#define MAIN                                          \
    uint8_t *to = first;                              \
    for (uint8_t count = PINB & 15; count; count--)   \
        to++;                                         \
    *to = 1;
#endif

int main(void) {
    DDRB = 0xf0;
    TIMSK0 = 1;
    TCCR0B = 1;
#if CASE == 8 || CASE == 9
    sei();
#endif
    for (;;) {
        MAIN
        second[PINC & 7] = tick;
    }
}
