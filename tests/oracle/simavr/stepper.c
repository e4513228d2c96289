/* Steps an ATmega328P in libsimavr as the test on the other end of the pipe asks. See `main` for the commands.
 *
 * Requests come on standard input, replies go to standard output, everything little endian and packed as the structs
 * below. Each command is answered completely before the next one is read. Ends with the input; exit code 2 when the
 * input is cut off or the simulator cannot be made.
 *
 * The processor core alone is asked here: all callbacks of I/O registers are taken away, so that I/O registers are
 * memory, except while a 'P' command has put those of the ports back. Interrupts are never taken: `avr_run_one` does
 * not look at them.
 */
#include <simavr/avr_ioport.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_core.h>
#include <simavr/sim_io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FLASH_BYTES = 0x8000,
    DATA_BYTES = 0x900,
    IO_START = 0x20,
    SP_LOW = 0x5d,
    SP_HIGH = 0x5e,
    STATUS = 0x5f,
    FIRST_PORT_REGISTER = 0x23,
    LAST_PORT_REGISTER = 0x2b,
    OPERANDS = 1 << 16,
    MOST_CHANGES = 4,
};

/* What a step starts from; the memory is that of the last 'M' command. */
struct __attribute__((packed)) start {
    uint8_t registers[32];
    uint8_t status;
    uint8_t unused;
    uint16_t stack_pointer;
    uint16_t pc_words;
    uint16_t unused_2;
};

struct __attribute__((packed)) change {
    uint16_t address;
    uint8_t value;
    uint8_t unused;
};

/* What a step leads to. */
struct __attribute__((packed)) outcome {
    uint8_t registers[32];
    uint8_t status;
    uint8_t count; /* of cells of the memory that differ; only the first ones are in `changes` */
    uint16_t stack_pointer;
    uint32_t pc_bytes; /* as simavr has it: it does not cut the program counter */
    uint32_t cycles;
    struct change changes[MOST_CHANGES];
    uint32_t state; /* of simavr: running, sleeping, crashed */
};

/* What varies over the second operand of a block. */
enum second_operand { A_REGISTER, THE_PLACE, THE_STATUS };

/* One instruction with all pairs of operands. */
struct __attribute__((packed)) block {
    uint16_t pc_words;
    uint8_t first;  /* number of the register with the first operand */
    uint8_t second; /* number of the register with the second operand, if it is one */
    uint8_t status;
    uint8_t meaning; /* enum second_operand; THE_PLACE: that many words behind pc_words */
    uint16_t unused;
};

/* What a step of a block leads to. */
struct __attribute__((packed)) effect {
    uint8_t first, next; /* the register `first` of the block, and the one behind it */
    uint8_t product_low, product_high; /* r0 and r1 */
    uint8_t status;
    uint8_t cycles;
    uint16_t pc_bytes;
};

/* A program until it reaches a place or has made so many steps. */
struct __attribute__((packed)) run {
    struct start start;
    uint32_t most_steps;
    uint16_t stop_pc_words;
    uint16_t unused;
};

struct __attribute__((packed)) end {
    uint32_t steps;
    uint32_t cycles;
    uint32_t pc_bytes;
    uint8_t status;
    uint8_t state;
    uint16_t unused;
    uint8_t data[DATA_BYTES];
};

static avr_t *avr;
static uint8_t base[DATA_BYTES];
static uint8_t status_bits[256][8];
static struct {
    avr_io_read_t read;
    avr_io_write_t write;
} port_callbacks[LAST_PORT_REGISTER + 1];
static FILE *replies;

static int get(void *place, size_t size)
{
    return fread(place, size, 1, stdin) == 1;
}

static void put(const void *place, size_t size)
{
    fwrite(place, size, 1, replies);
}

static void silent(avr_t *of, const int level, const char *format, va_list arguments)
{
    (void)of, (void)level, (void)format, (void)arguments;
}

static void set_status(uint8_t value)
{
    memcpy(avr->sreg, status_bits[value], 8);
}

static uint8_t get_status(void)
{
    uint8_t value = 0;
    for (int flag = 0; flag < 8; flag++) {
        value |= avr->sreg[flag] << flag;
    }
    return value;
}

/* Exactly one instruction; gives its clock cycles. */
static uint32_t step(void)
{
    avr_cycle_count_t before = avr->cycle;
    avr->run_cycle_count = avr->run_cycle_limit = 1;
    avr->interrupt_state = 0;
    avr->state = cpu_Running;
    avr->pc = avr_run_one(avr);
    return (uint32_t)(avr->cycle - before);
}

static void begin(const struct start *start)
{
    memcpy(avr->data, start->registers, sizeof start->registers);
    avr->data[SP_LOW] = start->stack_pointer & 0xff;
    avr->data[SP_HIGH] = start->stack_pointer >> 8;
    avr->pc = start->pc_words * 2u;
    set_status(start->status);
}

static int is_core(unsigned address)
{
    return address == SP_LOW || address == SP_HIGH || address == STATUS;
}

/* Notes the cells that differ from `base` and sets them back. */
static void note_changes(struct outcome *outcome)
{
    enum { CHUNK = 64 };
    for (unsigned chunk = IO_START; chunk < DATA_BYTES; chunk += CHUNK) {
        unsigned end = chunk + CHUNK < DATA_BYTES ? chunk + CHUNK : DATA_BYTES;
        if (memcmp(&avr->data[chunk], &base[chunk], end - chunk) == 0) {
            continue;
        }
        for (unsigned address = chunk; address < end; address++) {
            if (avr->data[address] == base[address] || is_core(address)) {
                continue;
            }
            if (outcome->count < MOST_CHANGES) {
                outcome->changes[outcome->count] = (struct change){(uint16_t)address, avr->data[address], 0};
            }
            outcome->count++;
            avr->data[address] = base[address];
        }
    }
}

static void single(const struct start *start, struct outcome *outcome)
{
    memset(outcome, 0, sizeof *outcome);
    begin(start);
    outcome->cycles = step();
    memcpy(outcome->registers, avr->data, sizeof outcome->registers);
    outcome->status = get_status();
    outcome->stack_pointer = (uint16_t)(avr->data[SP_LOW] | avr->data[SP_HIGH] << 8);
    outcome->pc_bytes = avr->pc;
    outcome->state = (uint32_t)avr->state;
    note_changes(outcome);
}

static int singles(void)
{
    uint32_t count;
    if (!get(&count, sizeof count)) {
        return 0;
    }
    struct start *starts = calloc(count, sizeof *starts);
    struct outcome *outcomes = calloc(count, sizeof *outcomes);
    int complete = starts && outcomes && fread(starts, sizeof *starts, count, stdin) == count;
    for (uint32_t i = 0; complete && i < count; i++) {
        single(&starts[i], &outcomes[i]);
    }
    fwrite(outcomes, sizeof *outcomes, complete ? count : 0, replies);
    free(starts);
    free(outcomes);
    return complete;
}

static int exhaust(void)
{
    static struct effect effects[OPERANDS];
    struct block block;
    if (!get(&block, sizeof block)) {
        return 0;
    }
    uint8_t first = block.first & 31, second = block.second & 31;
    for (unsigned operands = 0; operands < OPERANDS; operands++) {
        uint8_t a = operands & 0xff, b = operands >> 8;
        memcpy(avr->data, base, 32);
        avr->data[first] = a;
        if (block.meaning == A_REGISTER) {
            avr->data[second] = b;
        }
        avr->pc = (block.pc_words + (block.meaning == THE_PLACE ? b : 0u)) * 2u;
        set_status(block.meaning == THE_STATUS ? b : block.status);
        uint8_t cycles = (uint8_t)step();
        effects[operands] = (struct effect){
            avr->data[first], avr->data[(first + 1) & 31], avr->data[0], avr->data[1], get_status(), cycles,
            (uint16_t)avr->pc,
        };
    }
    put(effects, sizeof effects);
    return 1;
}

static int run(void)
{
    static struct end end;
    struct run run;
    if (!get(&run, sizeof run)) {
        return 0;
    }
    begin(&run.start);
    end.steps = end.cycles = 0;
    while (end.steps < run.most_steps && avr->pc != run.stop_pc_words * 2u) {
        end.cycles += step();
        end.steps++;
    }
    end.pc_bytes = avr->pc;
    end.status = get_status();
    end.state = (uint8_t)avr->state;
    memcpy(end.data, avr->data, DATA_BYTES);
    end.data[STATUS] = end.status;
    put(&end, sizeof end);
    memcpy(avr->data, base, DATA_BYTES);
    return 1;
}

static int load_memory(void)
{
    if (!get(base, sizeof base)) {
        return 0;
    }
    memcpy(avr->data, base, sizeof base);
    return 1;
}

static int connect_ports(void)
{
    uint8_t connected;
    if (!get(&connected, sizeof connected)) {
        return 0;
    }
    for (unsigned address = FIRST_PORT_REGISTER; address <= LAST_PORT_REGISTER; address++) {
        avr->io[AVR_DATA_TO_IO(address)].r.c = connected ? port_callbacks[address].read : NULL;
        avr->io[AVR_DATA_TO_IO(address)].w.c = connected ? port_callbacks[address].write : NULL;
    }
    return 1;
}

static void disconnect_everything(void)
{
    for (unsigned address = FIRST_PORT_REGISTER; address <= LAST_PORT_REGISTER; address++) {
        port_callbacks[address].read = avr->io[AVR_DATA_TO_IO(address)].r.c;
        port_callbacks[address].write = avr->io[AVR_DATA_TO_IO(address)].w.c;
    }
    for (unsigned io = 0; io < MAX_IOs; io++) {
        avr->io[io].r.c = NULL;
        avr->io[io].w.c = NULL;
        avr->io[io].irq = NULL;
    }
}

static int prepare(void)
{
    /* What simavr prints must not get among the replies. */
    int private = dup(STDOUT_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    replies = fdopen(private, "wb");
    avr_global_logger_set(silent);
    avr = avr_make_mcu_by_name("atmega328p");
    if (!avr || !replies || avr_init(avr) != 0) {
        return 0;
    }
    avr->log = LOG_NONE;
    for (unsigned value = 0; value < 256; value++) {
        for (int flag = 0; flag < 8; flag++) {
            status_bits[value][flag] = value >> flag & 1;
        }
    }
    disconnect_everything();
    return 1;
}

/* The commands:
 *   F  flash: FLASH_BYTES bytes; no reply
 *   M  memory: DATA_BYTES bytes that steps start from; no reply
 *   P  a byte: 1 gives the registers of the ports their callbacks back, 0 takes them away; no reply
 *   S  steps: a 32-bit count and so many `start`; replies with so many `outcome`
 *   A  all operands: a `block`; replies with `effect` for each, the first operand running fastest
 *   R  run: a `run`; replies with `end`
 */
static int obey(int command)
{
    switch (command) {
    case 'F':
        return get(avr->flash, FLASH_BYTES);
    case 'M':
        return load_memory();
    case 'P':
        return connect_ports();
    case 'S':
        return singles();
    case 'A':
        return exhaust();
    case 'R':
        return run();
    default:
        return 0;
    }
}

int main(void)
{
    if (!prepare()) {
        fprintf(stderr, "stepper: simavr has no atmega328p\n");
        return 2;
    }
    for (int command; (command = getchar()) != EOF;) {
        if (!obey(command)) {
            fprintf(stderr, "stepper: command '%c' is unknown or cut off\n", command);
            return 2;
        }
        fflush(replies);
    }
    return 0;
}
