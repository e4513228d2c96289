/* Pointer idioms that stay in their objects: nothing may be found in them.
 *
 * With FAULT one of them goes too far:
 *   1  the handler, by an index that is one too large
 *   2  a local array, by a length that is too large
 *   3  an array of variable length
 *   4  a matrix, as one row
 *   5  a ring whose pointer wraps too late
 *   6  a copy that is too long */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef FAULT
#define FAULT 0
#endif

#ifdef TINY
#define INTERRUPTS GIMSK
#define INPUT PINB
#define LARGE 90
#define FRAME 100
#define BIAS 50
#else
#define INTERRUPTS EIMSK
#define INPUT PIND
#define LARGE 300
#define FRAME 400
#define BIAS 260
#endif

/* Objects that lie side by side, so that a biased base is an address of another one. */
static volatile uint8_t before[16];
static volatile uint8_t counts[26];
static volatile uint16_t words[8];
static volatile uint8_t after[16];
static volatile uint8_t large[LARGE];
static struct point {
    uint8_t x;
    uint16_t y;
    char name[5];
} points[6];
static volatile char text[24];
static volatile uint8_t seen[10];
static uint8_t ring[8];
static uint8_t head, tail;
static uint8_t *next = ring;
static jmp_buf again;
static uint8_t matrix[4][6];
volatile uint16_t number = 0x0104;

/* An index that does not begin at 0. */
__attribute__((noinline)) static void count_letter(uint8_t letter)
{
    if (letter >= 'a' && letter <= 'z') {
        counts[letter - 'a']++;
    }
}

__attribute__((noinline)) static void from_one(uint8_t index)
{
    if (index >= 1 && index <= 8) {
        words[index - 1] = index;
        after[index - 1] = index;
    }
}

__attribute__((noinline)) static void backwards(void)
{
    for (uint8_t i = sizeof after; i-- > 0;) {
        after[i] = i;
    }
    for (volatile uint8_t *at = before + sizeof before; at != before;) {
        *--at = 1;
    }
}

__attribute__((noinline)) static void far_index(uint16_t index)
{
    if (index < sizeof large) {
        large[index] = 1;
    }
    if (index >= LARGE / 2 && index < sizeof large) {
        large[index - LARGE / 2] = 2;
    }
}

__attribute__((noinline)) static void structures(uint8_t index, uint8_t at)
{
    struct point *point = &points[index % 6];
    point->x = at;
    point->y = 0x0110;
    point->name[at % 5] = 'n';
    if (index > 0 && index < 6) {
        points[index - 1].y = 1;
        points[6 - index].x = 1;
    }
}

/* A ring with a pointer that wraps. */
__attribute__((noinline)) static void put(uint8_t byte)
{
    *next++ = byte;
    if (next == ring + sizeof ring + (FAULT == 5)) {
        next = ring;
    }
    ring[head++ & 7] = byte;
    tail = ring[(tail + 1) & 7];
}

/* Numbers that are equal to addresses, pointers that come from elsewhere, and large frames. */
__attribute__((noinline)) static uint8_t frame(uint8_t index)
{
    uint8_t local[FRAME];
    memset(local, index, sizeof local + (FAULT == 2 ? 8 : 0));
    local[BIAS + index % 50] = 1;
    local[FRAME - 1] = 2;
    return local[index % FRAME] + local[FRAME / 2];
}

__attribute__((noinline)) static void fill(uint8_t *at, uint16_t bytes, uint8_t value)
{
    while (bytes--) {
        *at++ = value;
    }
}

__attribute__((noinline)) static void copy(uint8_t *to, const uint8_t *from, uint8_t bytes)
{
    memcpy(to, from, bytes);
    memmove(to + 1, to, bytes - 1);
}

__attribute__((noinline)) static void print(char *to, uint16_t value)
{
    char digits[6];
    uint8_t at = sizeof digits;
    do {
        digits[--at] = '0' + value % 10;
        value /= 10;
    } while (value);
    strcpy(to, "v=");
    strncat(to, digits + at, sizeof digits - at);
}

/* Arguments on the stack, one of which is changed there. */
__attribute__((noinline)) static uint16_t many(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint16_t e, uint16_t f)
{
    volatile uint16_t *changed = &e;
    *changed += 1;
    f += e;
    return a + b + c + d + f + *changed;
}

__attribute__((noinline)) static void may_jump(uint8_t value)
{
    if (value == 7) {
        longjmp(again, 1);
    }
}

__attribute__((noinline)) static void select(uint8_t which, uint8_t index)
{
    volatile uint8_t *array = which & 1 ? before : which & 2 ? after : counts;
    array[index & 15] = which;
    uint8_t *row = matrix[which & 3];
    row[index % 6] = 1;
    (&matrix[0][0])[index % (24 + (FAULT == 4))] = 2;
}

__attribute__((noinline)) static void variable_length(uint8_t bytes)
{
    uint8_t local[bytes];
    memset(local, 0, bytes + (FAULT == 3 ? 8 : 0));
    PORTB = local[bytes / 2];
}

ISR(INT0_vect)
{
    uint8_t byte = PINB;
    seen[byte % (sizeof seen + (FAULT == 1))] = byte;
    PORTB = seen[(byte + 1) % sizeof seen];
}

int main(void)
{
    uint8_t *heap = malloc(20);
    INTERRUPTS = 1;
    sei();
    if (setjmp(again)) {
        PORTB ^= 1;
    }
    for (;;) {
        uint8_t in = INPUT, other = PINB;
        count_letter(in);
        from_one(in & 15);
        backwards();
        far_index((uint16_t)in << 1 | (other & 1));
        structures(in, other);
        put(in);
        PORTB = frame(in);
        fill((uint8_t *)points, sizeof points, other);
        fill((uint8_t *)&points[2], sizeof points[2], 0);
        copy(ring, matrix[1], sizeof ring + (FAULT == 6 ? 2 : 0));
        print((char *)text, number + in);
        PORTB = many(in, other, in, other, 0x0110, in);
        select(in, other);
        variable_length(in % 20 + 1);
        if (heap) {
            heap[in % 20] = other;
            fill(heap, 20, in);
        }
        may_jump(in);
        PORTB = (uint8_t)number + tail;
    }
}
