/* Runs one image of firmware-samples/ in libsimavr and prints what can be observed. Used by the oracles of samples, stacks and regressions.
 *
 *   observe IMAGE.elf [--steps N] [--seed N] [--pin B=80,00]... [--watch ADDRESS]
 *           [--cell ADDRESS] [--hits N] [--every N] [--any-depth 1] [--mcu PART]
 *           [--above ADDRESS]
 *
 * --pin    the bytes that successive reads of a port's pins give; the last one repeats. Other ports: random.
 * --watch  a byte address in flash: prints PORTB PORTC PORTD GPIOR1 GPIOR2 of an ATmega in hex each time it is reached.
 * --cell   an address in SRAM: prints the 16-bit value there as well.
 * --hits   stops after so many prints.
 * --every  presents a random request of the environment about every N steps: a received byte, a pin change.
 *
 * --any-depth  counts SP wherever SPL was written as well.
 * --mcu        the part: an ATmega328P otherwise.
 * --above      an address in SRAM: counts SP only where it is not below it.
 *
 * Last it prints `stack N`: the deepest that a push, call or interrupt entry has moved SP below the end of the SRAM, in
 * bytes, and `low ADDRESS`, the lowest such SP. Exit code 2 when the image does not load, 1 when simavr gives up.
 */
#include <simavr/avr_ioport.h>
#include <simavr/avr_twi.h>
#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>
#include <simavr/sim_io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORTS = 3, LIST_LENGTH = 64, SP_LOW = 0x5d, SP_HIGH = 0x5e };

/* The ports of a series of parts, with the data addresses of their PINx, and where the SRAM begins. No port: 0. */
static const struct series {
    char letters[PORTS];
    uint8_t pin_address[PORTS];
    unsigned sram;
} mega = {{'B', 'C', 'D'}, {0x23, 0x26, 0x29}, 0x100}, tiny = {{'B', 'A', 0}, {0x36, 0x39, 0}, 0x60};
static const struct series *series = &mega;

struct pins {
    uint8_t bytes[LIST_LENGTH];
    int length, next;
};

static struct pins pins[PORTS];
static uint64_t random_state = 1;

static uint32_t next_random(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33);
}

static uint8_t read_pins(struct avr_t *avr, avr_io_addr_t address, void *parameter)
{
    struct pins *port = parameter;
    uint8_t value = (uint8_t)next_random();
    if (port->length > 0) {
        value = port->bytes[port->next];
        if (port->next + 1 < port->length) {
            port->next++;
        }
    }
    if (series == &mega && address == series->pin_address[1]) {
        value &= 0x7f;
    }
    avr->data[address] = value;
    return value;
}

static void parse_pins(const char *text)
{
    struct pins *port = &pins[(text[0] - 'B') % PORTS];
    const char *cursor = text + 2;
    while (*cursor != 0 && port->length < LIST_LENGTH) {
        char *end;
        port->bytes[port->length++] = (uint8_t)strtoul(cursor, &end, 16);
        cursor = *end == ',' ? end + 1 : end;
    }
}

static unsigned stack_pointer(const avr_t *avr)
{
    return avr->data[SP_LOW] | avr->data[SP_HIGH] << 8;
}

/* The instruction about to run moves SP by pushing, not by writing SPL or SPH. */
static int may_push(const avr_t *avr)
{
    uint16_t opcode = avr->flash[avr->pc] | avr->flash[avr->pc + 1] << 8;
    int out = (opcode & 0xf800) == 0xb800;
    int sts = (opcode & 0xfe00) == 0x9200 && (opcode & 0x000f) != 0x000f;
    return !out && !sts;
}

static void no_sleep(avr_t *avr, avr_cycle_count_t how_long)
{
    (void)avr;
    (void)how_long;
}

/* Raises an IRQ of libsimavr, if the part has it. */
static void signal_to(avr_t *avr, uint32_t control, int index, uint32_t value)
{
    avr_irq_t *irq = avr_io_getirq(avr, control, index);
    if (irq) {
        avr_raise_irq(irq, value);
    }
}

/* Something that the world may do at any time. */
static void disturb(avr_t *avr)
{
    uint32_t what = next_random();
    uint8_t value = (what >> 8) & 0xff;
    char port = series == &mega ? 'D' : 'B';
    int pin = (series == &mega ? 2 : 1) + (value & 1);
    switch (what % 4) {
    case 0:
        signal_to(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_INPUT, value);
        return;
    case 1: /* the pins of the two external interrupts */
        break;
    case 2: /* the bus addresses the sample that is a slave of it */
        signal_to(avr, AVR_IOCTL_TWI_GETIRQ(0), TWI_IRQ_INPUT,
              avr_twi_irq_msg(TWI_COND_START | TWI_COND_ADDR | TWI_COND_WRITE, 0x42, value));
        return;
    default:
        port = series->letters[value % PORTS];
        pin = value >> 5;
    }
    if (port) {
        signal_to(avr, AVR_IOCTL_IOPORT_GETIRQ(port), pin, (what >> 16) & 1);
    }
}

static void show(const avr_t *avr, long cell)
{
    printf("%02x %02x %02x %02x %02x %04x\n", avr->data[0x25], avr->data[0x28], avr->data[0x2b], avr->data[0x4a],
           avr->data[0x4b], avr->data[cell] | avr->data[cell + 1] << 8);
}

int main(int count, char **arguments)
{
    long steps = 100000, watch = -1, cell = 0, hits = -1, every = 0, any_depth = 0, above = 0;
    const char *part = "atmega328p";
    for (int i = 2; i + 1 < count; i += 2) {
        const char *value = arguments[i + 1];
        if (!strcmp(arguments[i], "--steps")) {
            steps = strtol(value, NULL, 0);
        } else if (!strcmp(arguments[i], "--seed")) {
            random_state = strtoul(value, NULL, 0);
        } else if (!strcmp(arguments[i], "--pin")) {
            parse_pins(value);
        } else if (!strcmp(arguments[i], "--watch")) {
            watch = strtol(value, NULL, 16);
        } else if (!strcmp(arguments[i], "--cell")) {
            cell = strtol(value, NULL, 16) & 0xffff;
        } else if (!strcmp(arguments[i], "--hits")) {
            hits = strtol(value, NULL, 0);
        } else if (!strcmp(arguments[i], "--every")) {
            every = strtol(value, NULL, 0);
        } else if (!strcmp(arguments[i], "--any-depth")) {
            any_depth = strtol(value, NULL, 0);
        } else if (!strcmp(arguments[i], "--mcu")) {
            part = value;
        } else if (!strcmp(arguments[i], "--above")) {
            above = strtol(value, NULL, 16) & 0xffff;
        }
    }
    series = strncmp(part, "attiny", 6) ? &mega : &tiny;
    elf_firmware_t firmware = {0};
    avr_t *avr = avr_make_mcu_by_name(part);
    if (count < 2 || !avr || elf_read_firmware(arguments[1], &firmware) != 0) {
        return 2;
    }
    avr_init(avr);
    avr->log = LOG_NONE;
    avr->frequency = 16000000;
    avr_load_firmware(avr, &firmware);
    avr->sleep = no_sleep;
    uint32_t uart_flags = 0;
    avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), &uart_flags);
    for (int i = 0; i < PORTS; i++) {
        if (series->pin_address[i]) {
            avr->io[AVR_DATA_TO_IO(series->pin_address[i])].r.c = read_pins;
            avr->io[AVR_DATA_TO_IO(series->pin_address[i])].r.param = &pins[i];
        }
    }
    for (unsigned address = series->sram; address <= avr->ramend; address++) {
        avr->data[address] = (uint8_t)next_random();
    }

    unsigned lowest = avr->ramend;
    for (long step = 0; step < steps && hits != 0; step++) {
        if ((long)avr->pc == watch) {
            show(avr, cell);
            hits -= hits > 0;
        }
        int pushes = may_push(avr);
        uint8_t high = avr->data[SP_HIGH];
        avr->run_cycle_count = avr->run_cycle_limit = 1;
        int state = avr_run(avr);
        if (state == cpu_Crashed || state == cpu_Done) {
            printf("stopped 0x%04x\n", avr->pc);
            break;
        }
        pushes |= any_depth && avr->data[SP_HIGH] == high;
        if (pushes && stack_pointer(avr) < lowest && stack_pointer(avr) >= above) {
            lowest = stack_pointer(avr);
        }
        if (every > 0 && next_random() % (unsigned long)every == 0) {
            disturb(avr);
        }
    }
    printf("stack %d\nlow 0x%04x\n", (int)avr->ramend - (int)lowest, lowest);
    return 0;
}
