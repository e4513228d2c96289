/* One node of a system in libsimavr, driven over its standard input by run.py.
 *
 *   node IMAGE.elf
 *
 * Each line is a command, answered by a line:
 *   p PORT MASK LEVELS   sets the levels of the input pins in MASK of a port (B, C or D); numbers are hexadecimal
 *   s                    executes one instruction
 * The answer has, behind an equals sign and in hexadecimal digits (simavr prints lines of its own): the program counter in bytes, PORTB, DDRB, PORTC, DDRC, PORTD, DDRD.
 * Exit code 2 when the image does not load, 1 when simavr gives up.
 */
#include <simavr/avr_ioport.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>
#include <simavr/sim_io.h>
#include <stdio.h>
#include <string.h>

static void answer(const avr_t *avr)
{
    const uint8_t *data = avr->data;
    printf("= %x %x %x %x %x %x %x\n", avr->pc, data[0x25], data[0x24], data[0x28], data[0x27], data[0x2b], data[0x2a]);
    fflush(stdout);
}

int main(int count, char **arguments)
{
    elf_firmware_t firmware;
    memset(&firmware, 0, sizeof firmware);
    if (count != 2 || elf_read_firmware(arguments[1], &firmware) != 0)
        return 2;
    avr_t *avr = avr_make_mcu_by_name("atmega328p");
    if (!avr)
        return 2;
    avr_init(avr);
    avr->log = LOG_NONE;
    firmware.frequency = 16000000;
    avr_load_firmware(avr, &firmware);
    char line[64], port;
    unsigned mask, levels;
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "p %c %x %x", &port, &mask, &levels) == 3) {
            for (int bit = 0; bit < 8; bit++) {
                if (mask >> bit & 1)
                    avr_raise_irq(avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ(port), bit), levels >> bit & 1);
            }
        } else {
            int state = avr_run(avr);
            if (state == cpu_Crashed || state == cpu_Done)
                return 1;
        }
        answer(avr);
    }
    return 0;
}
