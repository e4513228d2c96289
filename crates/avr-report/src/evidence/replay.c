#include <simavr/sim_avr.h>
#include <simavr/sim_core.h>
#include <simavr/sim_io.h>
#include <stdio.h>
#include <string.h>

static uint64_t path = 0xcbf29ce484222325ull;
static uint8_t repeated[0x10000];

static void hash(uint8_t byte)
{
    path = (path ^ byte) * 0x00000100000001b3ull;
}

static void set_status(avr_t *avr, uint8_t status)
{
    for (int flag = 0; flag < 8; flag++) {
        avr->sreg[flag] = status >> flag & 1;
    }
    avr->data[STATUS] = status;
}

static uint8_t get_status(const avr_t *avr)
{
    uint8_t status = 0;
    for (int flag = 0; flag < 8; flag++) {
        status |= avr->sreg[flag] << flag;
    }
    return status;
}

static void poke(avr_t *avr, unsigned address, uint8_t value)
{
    avr->data[address] = value;
    if (address == STATUS) {
        set_status(avr, value);
    }
}

/* What the hardware does on an interrupt: the program counter goes to the stack, and I is cleared. */
static void enter(avr_t *avr, unsigned handler)
{
    unsigned sp = avr->data[SP_LOW] | (SP_HIGH ? avr->data[SP_HIGH] << 8 : 0);
    unsigned pc = avr->pc / 2;
    for (int byte = 0; byte < avr->address_size; byte++, sp--) {
        avr->data[sp & 0xffff] = pc >> 8 * byte & 0xff;
    }
    avr->data[SP_LOW] = sp & 0xff;
    if (SP_HIGH) {
        avr->data[SP_HIGH] = sp >> 8 & 0xff;
    }
    avr->sreg[7] = 0;
    avr->pc = handler;
}

static void execute(avr_t *avr)
{
    avr->run_cycle_count = avr->run_cycle_limit = 1;
    avr->interrupt_state = 0;
    avr->state = cpu_Running;
    /* The program counter wraps at the end of the flash, after an indirect jump as well. simavr's is wider. */
    avr->pc = avr_run_one(avr) & avr->flashend;
}

/* All that a program can see except the registers of peripherals. */
static void look(avr_t *avr, uint8_t *cells)
{
    memcpy(cells, avr->data, DATA_END + 1);
    memset(cells + 0x20, 0, SRAM_START - 0x20);
    cells[STATUS] = get_status(avr);
    cells[SP_LOW] = avr->data[SP_LOW];
    if (SP_HIGH) {
        cells[SP_HIGH] = avr->data[SP_HIGH];
    }
}

static int compare(avr_t *avr)
{
    int differences = 0;
    for (unsigned address = 0; address <= DATA_END; address++) {
        int is_core = address < 0x20 || address >= SRAM_START || address == STATUS || address == SP_LOW
            || (SP_HIGH && address == SP_HIGH);
        for (unsigned index = 0; compared[index] != 0; index++) {
            is_core |= compared[index] == address;
        }
        uint8_t value = address == STATUS ? get_status(avr) : avr->data[address];
        if (is_core && value != last[address]) {
            printf("data 0x%04x is 0x%02x in simavr, 0x%02x was expected\n", address, value, last[address]);
            differences++;
        }
    }
    if (avr->pc != LAST_PC) {
        printf("PC is 0x%04x in simavr, 0x%04x was expected\n", (unsigned)avr->pc, LAST_PC);
        differences++;
    }
    if (path != PATH) {
        printf("simavr took another path\n");
        differences++;
    }
    return differences;
}

int main(void)
{
    avr_t *avr = avr_make_mcu_by_name(MCU);
    if (avr == NULL || avr_init(avr) != 0) {
        fprintf(stderr, "simavr does not know " MCU "\n");
        return 2;
    }
    for (int io = 0; io < MAX_IOs; io++) {
        avr->io[io].r.c = NULL;
        avr->io[io].w.c = NULL;
        avr->io[io].irq = NULL;
    }
    memcpy(avr->flash, flash, sizeof flash);
    avr->codeend = avr->flashend;
    memcpy(avr->data, first, sizeof first);
    set_status(avr, first[STATUS]);
    avr->pc = START;
    const struct event *event = events;
    unsigned long long asleep_until = 0;
    for (unsigned long long step = 0; step < STEPS; step++) {
        int executes = step >= asleep_until;
        if (step == LOOP_START) {
            look(avr, repeated);
        }
        for (; event->step == step; event++) {
            switch (event->kind) {
            case POKE: poke(avr, event->address, event->value); break;
            case ENTER: enter(avr, event->address); executes = 0; break;
            case RESET: avr->pc = event->address; executes = 0; break;
            case ASLEEP: asleep_until = step + event->address; executes = 0; break;
            default: break;
            }
        }
        if (executes) {
            execute(avr);
        }
        hash(avr->pc & 0xff);
        hash(avr->pc >> 8 & 0xff);
        hash(avr->pc >> 16 & 0xff);
    }
    int differences = compare(avr);
    if (LOOP_START < STEPS) {
        static uint8_t now[0x10000];
        look(avr, now);
        if (memcmp(repeated, now, DATA_END + 1) != 0) {
            printf("the loop does not close\n");
            differences++;
        }
    }
    printf(differences == 0 ? "simavr shows the same run\n" : "simavr shows another run\n");
    return differences != 0;
}
