#include <simavr/sim_avr.h>
#include <simavr/sim_core.h>
#include <simavr/avr_ioport.h>
#include <simavr/avr_uart.h>
#include <stdio.h>
#include <string.h>

/* Which half of the stack pointer was written and waits for the other: its data address, or UNSURE, or 0. */
static unsigned torn = 0;
#define UNSURE 1u

/* Whether the main program was entered since the last reset. */
static int entered = 0;

static unsigned word_at(const avr_t *avr, unsigned address)
{
    return avr->flash[address & avr->flashend] | avr->flash[(address + 1) & avr->flashend] << 8;
}

static unsigned stack_pointer(const avr_t *avr)
{
    return avr->data[SP_LOW] | (SP_HIGH ? avr->data[SP_HIGH] << 8 : 0);
}

static uint8_t content(const avr_t *avr, unsigned address)
{
    if (address != STATUS) {
        return avr->data[address];
    }
    uint8_t status = 0;
    for (int flag = 0; flag < 8; flag++) {
        status |= avr->sreg[flag] << flag;
    }
    return status;
}

static int holds(const avr_t *avr)
{
    for (const struct condition *one = conditions; one->kind != NOTHING; one++) {
        if (one->kind == PC && (avr->pc >= one->first && avr->pc < one->end) != one->inside) {
            return 0;
        }
        if (one->kind == WHOLE && torn) {
            return 0;
        }
        if (one->kind == ENTERED && !entered) {
            return 0;
        }
        if (one->kind == CELLS) {
            unsigned index = content(avr, one->first) | (one->inside ? content(avr, one->end) << 8 : 0);
            if (!(one->allowed[index / 8] >> index % 8 & 1)) {
                return 0;
            }
        }
    }
    return 1;
}

static void raise(avr_irq_t *irq, unsigned value)
{
    if (irq != NULL) {
        avr_raise_irq(irq, value);
    }
}

/* Pins get their levels, the receiver gets a byte. */
static void give(avr_t *avr, const struct input *input)
{
    if (input->kind == BYTE) {
        raise(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_INPUT), input->value);
        return;
    }
    for (int pin = 0; pin < 8; pin++) {
        raise(avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ(input->port), pin), input->value >> pin & 1);
    }
}

/* The data address that an instruction stores a half of the stack pointer to: that of OUT and STS; UNSURE for stores whose
 * address is in a pointer. */
static unsigned stores_to(const avr_t *avr, unsigned pc)
{
    unsigned word = word_at(avr, pc);
    if ((word & 0xf800) == 0xb800) {
        return ((word & 0xf) | (word >> 5 & 0x30)) + 0x20;
    }
    if ((word & 0xfe0f) == 0x9200) {
        return word_at(avr, pc + 2);
    }
    int pushes = (word & 0xfe0f) == 0x920f;
    return (word & 0xd200) == 0x8200 || ((word & 0xfe00) == 0x9200 && !pushes) ? UNSURE : 0;
}

static void step(avr_t *avr)
{
    unsigned before = stack_pointer(avr), target = stores_to(avr, avr->pc);
    avr->run_cycle_count = avr->run_cycle_limit = 1;
    avr_run(avr);
    if (SP_HIGH && (target == SP_LOW || target == SP_HIGH)) {
        torn = torn == 0 || torn == target ? target : torn == UNSURE ? UNSURE : 0;
    } else if (stack_pointer(avr) != before) {
        torn = target == UNSURE ? UNSURE : 0;
    }
}

static void sleeps(avr_t *avr, avr_cycle_count_t cycles)
{
    (void)avr;
    (void)cycles;
}

/* Nothing is printed, and nobody waits for real time. */
static void be_quiet(avr_t *avr)
{
    uint32_t flags = 0;
    avr->log = LOG_NONE;
    avr->sleep = sleeps;
    if (avr_ioctl(avr, AVR_IOCTL_UART_GET_FLAGS('0'), &flags) == 0) {
        flags &= ~(uint32_t)(AVR_UART_FLAG_STDIO | AVR_UART_FLAG_POLL_SLEEP);
        avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), &flags);
    }
}

/* Runs the firmware from the start, with this level on all pins until the run says something else of them. Exit code 0 when
 * a state shows what is looked for. */
static int search(unsigned levels)
{
    avr_t *avr = avr_make_mcu_by_name(MCU);
    if (avr == NULL || avr_init(avr) != 0) {
        fprintf(stderr, "simavr does not know " MCU "\n");
        return 2;
    }
    be_quiet(avr);
    memcpy(avr->flash, flash, sizeof flash);
    avr->codeend = avr->flashend;
    memcpy(avr->data, first, 0x20);
    memcpy(avr->data + SRAM_START, first + SRAM_START, sizeof first - SRAM_START);
    avr->pc = avr->reset_pc = START;
    torn = 0;
    entered = 0;
    for (int port = 'A'; port <= 'L'; port++) {
        give(avr, &(struct input){0, PINS, port, levels});
    }
    const struct input *input = inputs;
    while (avr->cycle <= CYCLES && avr->state != cpu_Done && avr->state != cpu_Crashed) {
        for (; input->kind != NOTHING && input->cycle <= avr->cycle; input++) {
            give(avr, input);
        }
        entered = avr->pc == MAIN || (entered && avr->pc != START);
        if (holds(avr)) {
            printf("simavr shows it after %llu cycles\n", (unsigned long long)avr->cycle);
            return 0;
        }
        step(avr);
    }
    return 1;
}

int main(void)
{
    int found = search(0);
    if (found == 1) {
        found = search(0xff);
    }
    if (found == 1) {
        printf("simavr does not show it within %llu cycles\n", CYCLES);
    }
    return found;
}
