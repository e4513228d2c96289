/* Runs a flash image in libsimavr and shows every state: after every instruction, and after every entry into an interrupt handler.
 *
 *   runner DEVICE FLASH.bin --steps N --seed N --every N [--start PC] [--frequency HZ] [GIVEN...]
 *   runner DEVICE FLASH.bin --requests --seed N [GIVEN...]
 *
 * Registers, SRAM and EEPROM begin with random content, pins read at random, and about every N instructions something comes from outside: a received
 * byte, a pin change, a bus event (--every 0: nothing does). Execution starts at the flash byte address PC, which is also where it goes on after a
 * reset by the watchdog.
 *
 * Bits that are given, as hexadecimal numbers ADDRESS:VALUE:MASK: --data and --eeprom at the start, --pins whenever they are read.
 *
 * With --requests, each `struct request` of the standard input, with the data memory and the EEPROM behind it, is a state in which one instruction is executed, or one handler entered.
 *
 * Each state is written to the standard output as a `struct head`, the data memory up to the end of SRAM, and the EEPROM. Exit code 2: the device is
 * not known, or a file cannot be opened; 1: simavr gave up.
 */
#include <simavr/avr_eeprom.h>
#include <simavr/avr_ioport.h>
#include <simavr/avr_twi.h>
#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_core.h>
#include <simavr/sim_cycle_timers.h>
#include <simavr/sim_interrupts.h>
#include <simavr/sim_io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "devices.h"

enum { ENTRY = 0xffff, RESET = 0xfffe, SREG = 0x5f, USBCON = 0xd8, CAUSES = 0x0f, WATCHDOG_CAUSE = 0x08, MOST_GIVEN = 32 };
enum { SLEEP = 0x9588, TRANSMITTER_ON = 0x08, TRANSMITTER_EMPTY = 0x20, ADIF = 0x10 };
enum { EEPROM_BUSY_AND_ENABLED = 0x0a, EEPROM_ENABLED = 0x08 };

static const struct device *device;
static FILE *output;
static unsigned data_bytes, eeprom_bytes, ports;
static uint64_t random_state = 1;

/* Bits that are given, by address. */
struct given {
    struct {
        unsigned address, value, mask;
    } all[MOST_GIVEN];
    int count;
};
static struct given given_data, given_eeprom, given_pins;

/* What comes before the data memory and the EEPROM of a state. */
struct head {
    uint32_t pc;
    /* The instruction that led here; 0xffff for the entry into a handler, 0xfffe for a reset: reserved opcodes, both. */
    uint16_t opcode;
    uint8_t sleeping;
    uint8_t handlers;
    uint64_t cycle;
};
/* A state that is set, and what happens in it: before the data memory and the EEPROM. */
struct request {
    uint32_t pc;
    /* The interrupt whose handler is entered; 0 where an instruction is executed. */
    uint8_t interrupt;
    /* The interrupt whose handler is active; 0 in the main program. */
    uint8_t handler;
    uint8_t sleeping;
    uint8_t unused;
};
/* The program counter of the answer where simavr gave up. */
static const uint32_t GIVEN_UP = 0xffffffff;
static const uint8_t *eeprom;

static uint32_t next_random(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33);
}

/* Adds bits that are given by a text; whether it is one. */
static int give(struct given *given, const char *text)
{
    int last = given->count;
    return given->count++ < MOST_GIVEN
        && sscanf(text, "%x:%x:%x", &given->all[last].address, &given->all[last].value, &given->all[last].mask) == 3;
}

/* The bits of a byte that are given. */
static uint8_t mask_of(const struct given *given, unsigned address)
{
    unsigned mask = 0;
    for (int i = 0; i < given->count; i++) {
        mask |= given->all[i].address == address ? given->all[i].mask : 0;
    }
    return (uint8_t)mask;
}

/* A byte with the bits that are given. */
static uint8_t with_given(const struct given *given, unsigned address, uint8_t byte)
{
    for (int i = 0; i < given->count; i++) {
        if (given->all[i].address == address) {
            byte = (uint8_t)((byte & ~given->all[i].mask) | given->all[i].value);
        }
    }
    return byte;
}

/* The port with a letter. */
static const struct port *port_of(char letter)
{
    const struct port *port = device->ports;
    while (port->letter != letter) {
        port++;
    }
    return port;
}

/* Where a digital input is disabled its pin reads 0, of which libsimavr knows nothing (section "Digital Input Disable Register"). */
static uint8_t read_pins(struct avr_t *avr, avr_io_addr_t address, void *parameter)
{
    const struct port *port = parameter;
    uint8_t disabled = port->disabled ? avr->data[port->disabled] : 0;
    avr->data[address] = with_given(&given_pins, address, (uint8_t)next_random()) & port->mask & (uint8_t)~disabled;
    return avr->data[address];
}

/* Raises a signal of a peripheral; whether the device has that. */
static int raise(avr_t *avr, uint32_t peripheral, int signal, uint32_t value)
{
    avr_irq_t *irq = avr_io_getirq(avr, peripheral, signal);
    if (irq) {
        avr_raise_irq(irq, value);
    }
    return irq != NULL;
}

/* Something from outside. Devices without a USART or a TWI have a change of a pin instead. */
static void disturb(avr_t *avr)
{
    uint32_t what = next_random();
    uint8_t value = (what >> 8) & 0xff;
    char letter = device->int0_port;
    int pin = device->int0_pin + (value & 1);
    switch (what % 4) {
    case 0:
        if (raise(avr, AVR_IOCTL_UART_GETIRQ(device->usart), UART_IRQ_INPUT, value)) {
            return;
        }
        break;
    case 1:
        break;
    case 2:
        if (raise(avr, AVR_IOCTL_TWI_GETIRQ(0), TWI_IRQ_INPUT, avr_twi_irq_msg(TWI_COND_START | TWI_COND_ADDR | TWI_COND_WRITE, 0x42, value))) {
            return;
        }
        break;
    default:
        letter = device->ports[value % ports].letter;
        pin = value >> 5;
    }
    const struct port *port = port_of(letter);
    int is_reset = letter == device->reset_port && pin == device->reset_pin;
    if (mask_of(&given_pins, port->pins) >> pin & 1 || is_reset) {
        return;
    }
    raise(avr, AVR_IOCTL_IOPORT_GETIRQ(letter), pin, (what >> 16) & 1);
}

/* libsimavr switches the transmitter on at a reset; the data sheet has it off (section "USART Control and Status Register B"). Other initial values
 * are in the table of devices. */
static void mend_reset(avr_t *avr)
{
    for (const struct initial *initial = device->initial; initial < device->initial + MOST_INITIAL && initial->address; initial++) {
        avr->data[initial->address] = initial->value;
    }
    for (const uint16_t *status = device->usarts; status < device->usarts + MOST_USARTS && *status; status++) {
        avr->data[*status + 1] = 0;
    }
}

/* libsimavr has UDRE0 at 0 until the transmitter is switched on; the data sheet has it at 1 after reset (section "USART Register Description"). */
static void keep_transmitter_empty(avr_t *avr)
{
    for (const uint16_t *status = device->usarts; status < device->usarts + MOST_USARTS && *status; status++) {
        if (!(avr->data[*status + 1] & TRANSMITTER_ON)) {
            avr->data[*status] |= TRANSMITTER_EMPTY;
        }
    }
}

/* libsimavr executes two instructions after I was set before an interrupt that is pending; the data sheet says one (section "Reset and Interrupt
 * Handling"). */
static void shorten_delay(avr_t *avr)
{
    if (avr->interrupt_state < -1) {
        avr->interrupt_state = -1;
    }
}

static avr_int_vector_t *vector_of(avr_t *avr, uint8_t number)
{
    for (int i = 0; i < avr->interrupts.vector_count; i++) {
        if (avr->interrupts.vector[i]->vector == number) {
            return avr->interrupts.vector[i];
        }
    }
    return NULL;
}

/* libsimavr requests the interrupt of the EEPROM at the end of a write only; the data sheet has it as long as EEPE is 0 (section "EEPROM Control
 * Register", bit EERIE). */
static void keep_eeprom_ready(avr_t *avr)
{
    if ((avr->data[device->eecr] & EEPROM_BUSY_AND_ENABLED) != EEPROM_ENABLED) {
        return;
    }
    avr_raise_interrupt(avr, vector_of(avr, device->eeprom_ready));
}

/* libsimavr stores in a flag register what SBI or OUT writes; the data sheet has flags cleared that are written 1, and all others kept (section
 * "External Interrupts", EIFR, and the like). The address of the flag register that an instruction writes, or 0. */
static avr_io_addr_t written_flags(uint16_t opcode)
{
    avr_io_addr_t address = 0;
    if ((opcode & 0xff00) == 0x9a00) {
        address = 0x20 + (opcode >> 3 & 0x1f);
    } else if ((opcode & 0xf800) == 0xb800) {
        address = 0x20 + ((opcode >> 5 & 0x30) | (opcode & 0xf));
    }
    for (const uint16_t *flags = device->flags; flags < device->flags + MOST_FLAGS; flags++) {
        if (address && *flags == address) {
            return address;
        }
    }
    return 0;
}

/* libsimavr keeps ADIF where ADCSRA is written with a 1 there; the data sheet has it cleared (section "ADC Control and Status Register A"). True if an
 * instruction, STS, OUT or ST through Z, does so. */
static int clears_adif(const avr_t *avr, uint16_t opcode)
{
    uint16_t address = 0;
    if ((opcode & 0xfe0f) == 0x9200) {
        address = (uint16_t)(avr->flash[avr->pc + 2] | avr->flash[avr->pc + 3] << 8);
    } else if ((opcode & 0xfe0f) == 0x8200) {
        address = (uint16_t)(avr->data[30] | avr->data[31] << 8);
    } else if ((opcode & 0xf800) == 0xb800) {
        address = 0x20 + ((opcode >> 5 & 0x30) | (opcode & 0xf));
    }
    return address == device->adcsra && (avr->data[opcode >> 4 & 0x1f] & ADIF);
}

/* libsimavr sets the flag of an external interrupt that is requested by a low level as well; the data sheet has it cleared then (section "External
 * Interrupts", EIFR). */
static void keep_level_flags_clear(avr_t *avr)
{
    const struct external *end = device->externals + MOST_EXTERNALS;
    for (const struct external *external = device->externals; external < end && external->control; external++) {
        if ((avr->data[external->control] >> external->shift & 3) == 0) {
            avr->data[device->external_flags] &= (uint8_t)~external->flag;
        }
    }
}

/* SREG is kept bit by bit. */
static void show(avr_t *avr, uint16_t opcode)
{
    struct head state = {0};
    state.pc = avr->pc;
    state.opcode = opcode;
    /* libsimavr passes SLEEP over where an interrupt is pending; the data sheet has it fall asleep and wake (section "Sleep Modes"). */
    state.sleeping = avr->state == cpu_Sleeping || (opcode == SLEEP && (avr->data[device->sleep] & device->enable));
    state.handlers = avr->interrupts.running_ptr;
    state.cycle = avr->cycle;
    uint8_t status = 0;
    for (int bit = 0; bit < 8; bit++) {
        status |= (uint8_t)((avr->sreg[bit] != 0) << bit);
    }
    avr->data[SREG] = status;
    fwrite(&state, sizeof state, 1, output);
    fwrite(avr->data, data_bytes, 1, output);
    fwrite(eeprom, eeprom_bytes, 1, output);
}

static uint16_t next_opcode(const avr_t *avr)
{
    return (uint16_t)(avr->flash[avr->pc] | avr->flash[avr->pc + 1] << 8);
}

static int has_given_up(const avr_t *avr)
{
    return avr->state == cpu_Crashed || avr->state == cpu_Done || avr->pc > avr->flashend;
}

/* Executes an instruction; the address of the next one. */
static avr_flashaddr_t execute(avr_t *avr, uint16_t opcode)
{
    avr_io_addr_t flags = written_flags(opcode);
    uint8_t before = avr->data[flags];
    uint8_t ones = opcode & 0x2000 ? avr->data[opcode >> 4 & 0x1f] : (uint8_t)(1 << (opcode & 7));
    int clears = clears_adif(avr, opcode);
    avr_flashaddr_t pc = avr_run_one(avr);
    if (clears) {
        avr->data[device->adcsra] &= (uint8_t)~ADIF;
    }
    if (flags) {
        avr->data[flags] = (uint8_t)((avr->data[flags] & before) | (before & ~ones));
    }
    return pc;
}

static void set_eeprom(avr_t *avr, uint8_t *content)
{
    avr_eeprom_desc_t all = {.ee = content, .offset = 0, .size = eeprom_bytes};
    avr_ioctl(avr, AVR_IOCTL_EEPROM_SET, &all);
}

/* Resets the microcontroller, if the watchdog has timed out: libsimavr has another function run in the next step then. libsimavr keeps no causes of
 * earlier resets; the data sheet has WDRF set beside them (section "MCU Status Register"). */
static void reset_by_watchdog(avr_t *avr)
{
    uint8_t causes = avr->data[MCUSR];
    avr->run(avr);
    mend_reset(avr);
    avr->data[MCUSR] = causes | WATCHDOG_CAUSE;
    keep_transmitter_empty(avr);
    show(avr, RESET);
}

/* The first content of what is given besides registers and SRAM: of the causes of a reset the others are any. */
static void set_given_data(avr_t *avr)
{
    for (int i = 0; i < given_data.count; i++) {
        unsigned address = given_data.all[i].address;
        uint8_t before = address == MCUSR ? (uint8_t)next_random() & CAUSES : avr->data[address];
        avr->data[address] = with_given(&given_data, address, before);
    }
}

/* Sets a state. Of peripherals only what their registers hold is set; what libsimavr knows of them besides is as after reset. */
static void set(avr_t *avr, const struct request *request, const uint8_t *data, uint8_t *content)
{
    avr_reset(avr);
    set_eeprom(avr, content);
    memcpy(avr->data, data, data_bytes);
    for (int bit = 0; bit < 8; bit++) {
        avr->sreg[bit] = data[SREG] >> bit & 1;
    }
    avr->pc = request->pc;
    avr->state = request->sleeping ? cpu_Sleeping : cpu_Running;
    avr->interrupts.running_ptr = request->handler != 0;
    avr->interrupts.running[0] = vector_of(avr, request->handler);
    avr->interrupt_state = 0;
}

/* libsimavr asks USBE where the data sheet has an enable bit for each cause (section "USB Device Operating modes", "Interrupts"). Of a request these
 * are set: I, which is set as well, stands for them. */
static void enable_usb(avr_t *avr)
{
    for (int i = 0; i < avr->interrupts.vector_count; i++) {
        avr_int_vector_t *vector = avr->interrupts.vector[i];
        if (vector->enable.reg == USBCON) {
            vector->enable = (avr_regbit_t)AVR_IO_REGBIT(SREG, 7);
        }
    }
}

/* Answers each request with the state behind the step. Where an interrupt cannot be raised, the answer is the state that was set: libsimavr has no such
 * vector, or has it disabled, so that nothing is pending. */
static void answer_requests(avr_t *avr)
{
    struct request request;
    enable_usb(avr);
    uint8_t *data = calloc(1, data_bytes), *content = calloc(1, eeprom_bytes);
    while (fread(&request, sizeof request, 1, stdin) == 1 && fread(data, data_bytes, 1, stdin) == 1
           && fread(content, eeprom_bytes, 1, stdin) == 1) {
        set(avr, &request, data, content);
        uint16_t opcode = ENTRY;
        if (request.interrupt) {
            avr_int_vector_t *vector = vector_of(avr, request.interrupt);
            if (vector && avr_raise_interrupt(avr, vector) && avr_has_pending_interrupts(avr)) {
                avr->interrupt_state = 1;
                avr_service_interrupts(avr);
            }
        } else {
            opcode = next_opcode(avr);
            avr_flashaddr_t pc = execute(avr, opcode);
            avr_cycle_timer_process(avr);
            avr->pc = pc;
        }
        if (has_given_up(avr)) {
            avr->pc = GIVEN_UP;
        }
        keep_transmitter_empty(avr);
        keep_level_flags_clear(avr);
        show(avr, opcode);
    }
}

/* Keeps the standard output for states. libsimavr writes warnings of its USB controller there, whatever the level of its log; they are dropped, as
 * the log is. */
static int keep_output(void)
{
    int states = dup(STDOUT_FILENO);
    output = states < 0 ? NULL : fdopen(states, "wb");
    return output && freopen("/dev/null", "w", stdout);
}

struct options {
    long steps, every;
    avr_flashaddr_t start;
    uint32_t frequency;
    int has_requests;
};

/* Reads the options; whether they are some. */
static int read_options(struct options *options, int count, char **arguments)
{
    for (int i = 3; i < count; i += 2) {
        if (!strcmp(arguments[i], "--requests")) {
            options->has_requests = 1;
            i--;
        } else if (i + 1 == count) {
            return 0;
        } else if (!strcmp(arguments[i], "--steps")) {
            options->steps = strtol(arguments[i + 1], NULL, 0);
        } else if (!strcmp(arguments[i], "--seed")) {
            random_state = strtoul(arguments[i + 1], NULL, 0) * 2654435761u + 12345;
        } else if (!strcmp(arguments[i], "--every")) {
            options->every = strtol(arguments[i + 1], NULL, 0);
        } else if (!strcmp(arguments[i], "--start")) {
            options->start = (avr_flashaddr_t)strtoul(arguments[i + 1], NULL, 0);
        } else if (!strcmp(arguments[i], "--frequency")) {
            options->frequency = (uint32_t)strtoul(arguments[i + 1], NULL, 0);
        } else if (!(!strcmp(arguments[i], "--data") && give(&given_data, arguments[i + 1]))
                   && !(!strcmp(arguments[i], "--eeprom") && give(&given_eeprom, arguments[i + 1]))
                   && !(!strcmp(arguments[i], "--pins") && give(&given_pins, arguments[i + 1]))) {
            return 0;
        }
    }
    return 1;
}

int main(int count, char **arguments)
{
    /* Slow, so that a byte of the EEPROM is programmed in few cycles. */
    struct options options = {.steps = 1000, .frequency = 500000};
    if (!read_options(&options, count, arguments) || !keep_output()) {
        return 2;
    }
    for (unsigned i = 0; count > 2 && i < sizeof devices / sizeof *devices; i++) {
        device = strcmp(arguments[1], devices[i].name) ? device : &devices[i];
    }
    avr_t *avr = device ? avr_make_mcu_by_name(device->name) : NULL;
    FILE *image = avr ? fopen(arguments[2], "rb") : NULL;
    if (!avr || !image) {
        return 2;
    }
    avr_init(avr);
    avr->log = LOG_NONE;
    data_bytes = avr->ramend + 1u;
    eeprom_bytes = avr->e2end + 1u;
    avr->frequency = options.frequency;
    avr->pc = avr->reset_pc = options.start;
    memset(avr->flash, 0xff, avr->flashend + 1);
    avr->codeend = (avr_flashaddr_t)fread(avr->flash, 1, avr->flashend + 1, image);
    fclose(image);
    uint32_t uart_flags = 0;
    for (char number = '0'; number < '0' + MOST_USARTS; number++) {
        avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS(number), &uart_flags);
    }
    for (; ports < MOST_PORTS && device->ports[ports].letter; ports++) {
        avr_io_addr_t io = AVR_DATA_TO_IO(device->ports[ports].pins);
        avr->io[io].r.c = read_pins;
        avr->io[io].r.param = (void *)&device->ports[ports];
    }
    /* A low level here would be a reset. */
    if (device->reset_port) {
        avr_raise_irq(avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ(device->reset_port), device->reset_pin), 1);
    }
    for (unsigned address = 0; address <= avr->ramend; address++) {
        if (address < 0x20 || address >= device->sram_start) {
            avr->data[address] = (uint8_t)next_random();
        }
    }
    mend_reset(avr);
    uint8_t *content = calloc(1, eeprom_bytes);
    for (unsigned i = 0; i < eeprom_bytes; i++) {
        content[i] = with_given(&given_eeprom, i, (uint8_t)next_random());
    }
    set_eeprom(avr, content);
    /* Without a place to copy to, what it gives is the content itself. */
    avr_eeprom_desc_t all = {.ee = NULL, .offset = 0, .size = eeprom_bytes};
    avr_ioctl(avr, AVR_IOCTL_EEPROM_GET, &all);
    eeprom = all.ee;
    if (options.has_requests) {
        answer_requests(avr);
        return 0;
    }
    set_given_data(avr);
    keep_transmitter_empty(avr);
    show(avr, 0);
    avr_run_t run = avr->run;
    for (long step = 0; step < options.steps; step++) {
        uint16_t opcode = next_opcode(avr);
        avr_flashaddr_t pc = avr->pc;
        int slept = avr->state == cpu_Sleeping;
        if (avr->state == cpu_Running) {
            pc = execute(avr, opcode);
        }
        avr_cycle_count_t pause = avr_cycle_timer_process(avr);
        avr->pc = pc;
        if (avr->state == cpu_Sleeping && slept) {
            avr->cycle += 1 + (pause < 1000 ? pause : 1000);
        }
        if (has_given_up(avr)) {
            return 1;
        }
        keep_transmitter_empty(avr);
        keep_level_flags_clear(avr);
        if (!slept) {
            show(avr, opcode);
        }
        if (avr->run != run) {
            reset_by_watchdog(avr);
            continue;
        }
        if (options.every > 0 && next_random() % (unsigned long)options.every == 0) {
            disturb(avr);
            keep_level_flags_clear(avr);
        }
        keep_eeprom_ready(avr);
        shorten_delay(avr);
        int running = avr->interrupts.running_ptr;
        avr_flashaddr_t before = avr->pc;
        avr_service_interrupts(avr);
        if (avr->interrupts.running_ptr != running || avr->pc != before) {
            show(avr, ENTRY);
        }
    }
    return 0;
}
