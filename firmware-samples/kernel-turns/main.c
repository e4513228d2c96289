/* A cooperative kernel: two tasks and the main program take turns. Each task has a stack of its own; `yield` saves the registers that
 * a call keeps on the stack of the task that runs, and goes on with the next one. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>

#define TASKS 3
#define STACK_BYTES 48

static uint8_t stack_of_lights[STACK_BYTES];
static uint8_t stack_of_keys[STACK_BYTES];

/* The stack pointers of the tasks that wait; the main program is task 0. */
static uint8_t *saved[TASKS];
static uint8_t running;

volatile uint8_t pressed;

/* Pops in the opposite order of pushes: `create` makes room for as many. */
static void __attribute__((naked, noinline)) yield(void)
{
    asm volatile("push r2\n\tpush r3\n\tpush r4\n\tpush r5\n\tpush r6\n\tpush r7\n\t"
                 "push r8\n\tpush r9\n\tpush r10\n\tpush r11\n\tpush r12\n\tpush r13\n\t"
                 "push r14\n\tpush r15\n\tpush r16\n\tpush r17\n\tpush r28\n\tpush r29");
    saved[running] = (uint8_t *)SP;
    running = running == TASKS - 1 ? 0 : running + 1;
    SP = (uint16_t)saved[running];
    asm volatile("pop r29\n\tpop r28\n\tpop r17\n\tpop r16\n\tpop r15\n\tpop r14\n\t"
                 "pop r13\n\tpop r12\n\tpop r11\n\tpop r10\n\tpop r9\n\tpop r8\n\t"
                 "pop r7\n\tpop r6\n\tpop r5\n\tpop r4\n\tpop r3\n\tpop r2\n\tret");
}

static void create(uint8_t number, uint8_t *stack, void (*entry)(void))
{
    uint8_t *top = stack + STACK_BYTES - 1;
    *top-- = (uint16_t)entry & 0xff;
    *top-- = (uint16_t)entry >> 8;
    for (uint8_t i = 0; i < 18; i++) {
        *top-- = 0;
    }
    saved[number] = top;
}

static void lights(void)
{
    for (;;) {
        PORTB = pressed ? 1 : 2;
        yield();
    }
}

static void keys(void)
{
    for (;;) {
        pressed = PINC & 1;
        yield();
    }
}

int main(void) __attribute__((OS_main));

int main(void)
{
    DDRB = 0xff;
    create(1, stack_of_lights, lights);
    create(2, stack_of_keys, keys);
    for (;;) {
        yield();
    }
}
