/* Runs a program in libsimavr without anything from outside and prints the state after every step: an instruction (i),
 * the entry into an interrupt handler (e), a cycle of sleep (s) or a reset (r).
 *
 *   player DEVICE IMAGE.elf STEPS
 *
 * A line has the kind, the program counter in bytes, clock cycles, SP, SREG, and r0 to r31 in hex; the last one is
 * `sram` and its content. Everything begins with 0, as in `avr-tvar run`. Exit code 2: the image does not load; 1: simavr
 * gave up.
 */
#include <simavr/avr_eeprom.h>
#include <simavr/avr_ioport.h>
#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_core.h>
#include <simavr/sim_cycle_timers.h>
#include <simavr/sim_elf.h>
#include <simavr/sim_interrupts.h>
#include <simavr/sim_io.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REGISTERS = 32, SP_LOW = 0x5d, SP_HIGH = 0x5e, CLOCK_HERTZ = 1000000, RESPONSE_CYCLES = 2, USARTS = 4 };
enum { EERE = 1, EEPE = 2, EEMPE = 4, EERIE = 8, TXEN = 8, UDRE = 0x20 };

/* Data addresses of registers and of the SRAM, which libsimavr does not tell for every part, the number of the interrupt of
 * the EEPROM, and the pin that is the reset. No USART: 0, and a reset pin that is no port: 0. */
static const struct device {
    const char *name;
    uint16_t eecr, ucsra[USARTS], sram;
    int eeprom_vector;
    char reset_port;
    int reset_pin;
} devices[] = {
    {"atmega328p", 0x3f, {0xc0}, 0x100, 22, 'C', 6},
    {"atmega1284p", 0x3f, {0xc0, 0xc8}, 0x100, 25, 0, 0},
    {"atmega2560", 0x3f, {0xc0, 0xc8, 0xd0, 0x130}, 0x200, 30, 0, 0},
    {"atmega32u4", 0x3f, {0, 0xc8}, 0x100, 30, 0, 0},
    {"attiny85", 0x3c, {0}, 0x60, 6, 'B', 5},
    {"attiny13", 0x3c, {0}, 0x60, 4, 'B', 5},
    {"attiny84", 0x3c, {0}, 0x60, 14, 'B', 3},
};
static const struct device *device;

static void show(const avr_t *avr, char kind)
{
    unsigned status = 0;
    for (int bit = 0; bit < 8; bit++) {
        status |= (unsigned)(avr->sreg[bit] != 0) << bit;
    }
    printf("%c %u %llu %u %u ", kind, avr->pc, (unsigned long long)avr->cycle, avr->data[SP_LOW] | avr->data[SP_HIGH] << 8, status);
    for (int number = 0; number < REGISTERS; number++) {
        printf("%02x", avr->data[number]);
    }
    putchar('\n');
}

/* libsimavr never halts for the EEPROM; the data sheet says four cycles when EERE is set and two when EEPE is (section
 * "EEPROM Control Register"). */
static void halt_for_eeprom(avr_t *avr, uint16_t opcode, uint8_t before)
{
    int address = device->eecr - 0x20, written = 0;
    if ((opcode & 0xff00) == 0x9a00 && (opcode >> 3 & 0x1f) == address) {
        written = 1 << (opcode & 7) | before;
    } else if ((opcode & 0xf800) == 0xb800 && ((opcode >> 5 & 0x30) | (opcode & 0xf)) == address) {
        written = avr->data[opcode >> 4 & 0x1f];
    }
    avr->cycle += written & EERE ? 4 : 0;
    avr->cycle += written & EEPE && before & EEMPE ? 2 : 0;
}

/* libsimavr requests the interrupt of the EEPROM at the end of a write only; the data sheet has it as long as EEPE is 0
 * (section "EEPROM Control Register", bit EERIE). */
static void keep_eeprom_ready(avr_t *avr)
{
    if ((avr->data[device->eecr] & (EERIE | EEPE)) != EERIE) {
        return;
    }
    for (int i = 0; i < avr->interrupts.vector_count; i++) {
        if (avr->interrupts.vector[i]->vector == device->eeprom_vector) {
            avr_raise_interrupt(avr, avr->interrupts.vector[i]);
        }
    }
}

/* libsimavr has UDRE0 at 0 until the transmitter is switched on; the data sheet has it at 1 after reset (section "USART
 * Register Description"). */
static void keep_transmitter_empty(avr_t *avr)
{
    for (int number = 0; number < USARTS; number++) {
        uint16_t status = device->ucsra[number];
        if (status && !(avr->data[status + 1] & TXEN)) {
            avr->data[status] |= UDRE;
        }
    }
}

/* libsimavr executes two instructions after I was set before an interrupt that is pending; the data sheet says one
 * (section "Reset and Interrupt Handling"). */
static void shorten_delay(avr_t *avr)
{
    if (avr->interrupt_state < -1) {
        avr->interrupt_state = -1;
    }
}

/* One instruction or one cycle of sleep, and the interrupt or the reset behind it. Returns the number of lines. */
static int step(avr_t *avr)
{
    avr_run_t usual = avr->run;
    avr_flashaddr_t pc = avr->pc;
    int slept = avr->state == cpu_Sleeping;
    if (slept) {
        avr->cycle++;
    } else {
        uint16_t opcode = (uint16_t)(avr->flash[pc] | avr->flash[pc + 1] << 8);
        uint8_t before = avr->data[device->eecr];
        pc = avr_run_one(avr);
        halt_for_eeprom(avr, opcode, before);
    }
    avr_cycle_timer_process(avr);
    avr->pc = pc;
    keep_transmitter_empty(avr);
    show(avr, slept ? 's' : 'i');
    if (avr->run != usual) {
        avr->run(avr);
        show(avr, 'r');
        return 2;
    }
    keep_eeprom_ready(avr);
    shorten_delay(avr);
    int running = avr->interrupts.running_ptr;
    avr_service_interrupts(avr);
    if (avr->interrupts.running_ptr == running && avr->pc == pc) {
        return 1;
    }
    /* libsimavr enters a handler in no time; the data sheet says four cycles, and four more out of sleep (section
     * "Interrupt Response Time"). */
    /* A cycle for each byte of the return address, and as many cycles once more to wake up. */
    avr->cycle += (RESPONSE_CYCLES + avr->address_size) * (slept ? 2 : 1);
    show(avr, 'e');
    return 2;
}

static void clear_eeprom(avr_t *avr)
{
    uint8_t content[0x1000] = {0};
    avr_eeprom_desc_t all = {.ee = content, .offset = 0, .size = avr->e2end + 1u};
    avr_ioctl(avr, AVR_IOCTL_EEPROM_SET, &all);
}

/* libsimavr loads the sections that it knows by name; here is all that lies in flash. */
static int load_flash(avr_t *avr, const char *path)
{
    int file = open(path, O_RDONLY);
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(file, ELF_C_READ, NULL);
    size_t count = 0;
    if (file < 0 || !elf || elf_getphdrnum(elf, &count) != 0) {
        return 0;
    }
    for (size_t number = 0; number < count; number++) {
        GElf_Phdr part;
        if (gelf_getphdr(elf, (int)number, &part) && part.p_type == PT_LOAD && part.p_paddr + part.p_filesz <= avr->flashend + 1ul
            && pread(file, avr->flash + part.p_paddr, part.p_filesz, (off_t)part.p_offset) < 0) {
            return 0;
        }
    }
    elf_end(elf);
    close(file);
    return 1;
}

int main(int count, char **arguments)
{
    elf_firmware_t firmware = {0};
    for (unsigned i = 0; count == 4 && i < sizeof devices / sizeof *devices; i++) {
        if (!strcmp(arguments[1], devices[i].name)) {
            device = &devices[i];
        }
    }
    avr_t *avr = device ? avr_make_mcu_by_name(device->name) : NULL;
    if (!avr || elf_read_firmware(arguments[2], &firmware) != 0) {
        return 2;
    }
    avr_init(avr);
    avr->log = LOG_NONE;
    avr->frequency = CLOCK_HERTZ;
    clear_eeprom(avr);
    avr_load_firmware(avr, &firmware);
    if (!load_flash(avr, arguments[2])) {
        return 2;
    }
    avr->frequency = CLOCK_HERTZ;
    keep_transmitter_empty(avr);
    uint32_t uart_flags = 0;
    for (char number = '0'; number < '0' + USARTS; number++) {
        avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS(number), &uart_flags);
    }
    /* A low level here would be a reset. */
    if (device->reset_port) {
        avr_raise_irq(avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ(device->reset_port), device->reset_pin), 1);
    }
    for (long left = strtol(arguments[3], NULL, 0); left > 0;) {
        left -= step(avr);
        if (avr->state == cpu_Crashed || avr->state == cpu_Done) {
            return 1;
        }
    }
    printf("sram ");
    for (unsigned address = device->sram; address <= avr->ramend; address++) {
        printf("%02x", avr->data[address]);
    }
    putchar('\n');
    return 0;
}
